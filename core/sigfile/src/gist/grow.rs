//! How the tree grows: keys that stand for several, and pages that are split.

use super::key::{Level, TreeKey, HEADER, INNER, MIXED};
use crate::RowShape;
use base::{Error, ErrorKind, Result};

/// Bytes of an inner key that leave room for four on a page.
pub const LARGEST: usize = 2000;

/// Bytes of an inner key of this shape.
///
/// Errors: a shape that does not fit a page.
pub fn inner_size(shape: RowShape) -> Result<usize> {
    let size = HEADER + 2 * shape.bytes();
    if size <= LARGEST {
        return Ok(size);
    }
    Err(Error::new(
        ErrorKind::DataException,
        format!("signature shape {shape} is too large for a gist index"),
    )
    .detail(format!(
        "It has {} bits; the index takes up to {}.",
        shape.bits(),
        (LARGEST - HEADER) / 2 * 8
    ))
    .hint("Use a lower max_chars or a higher fpr."))
}

/// Bytes of the key that stands for all of `keys`, one at least.
///
/// Errors: a shape that does not fit a page.
pub fn united_size<'a>(keys: impl IntoIterator<Item = TreeKey<'a>>) -> Result<usize> {
    let mut keys = keys.into_iter();
    let first = keys.next().expect("at least one key");
    if first.level == Level::Mixed || keys.any(|key| key.tag != first.tag) {
        return Ok(MIXED.len());
    }
    inner_size(first.shape())
}

/// Writes the key that stands for all of `keys` to `out`, of [`united_size`] bytes.
pub fn unite<'a>(keys: impl IntoIterator<Item = TreeKey<'a>>, out: &mut [u8]) {
    if out.len() == MIXED.len() {
        out.copy_from_slice(&MIXED);
        return;
    }
    let mut keys = keys.into_iter();
    let first = keys.next().expect("at least one key");
    let (header, bits) = out.split_at_mut(HEADER);
    let (union, intersection) = bits.split_at_mut(bits.len() / 2);
    union.copy_from_slice(first.union);
    intersection.copy_from_slice(first.intersection);
    let (mut least, mut greatest, mut threshold) = (first.least, first.greatest, first.threshold);
    for key in keys {
        for (to, from) in union.iter_mut().zip(key.union) {
            *to |= from;
        }
        for (to, from) in intersection.iter_mut().zip(key.intersection) {
            *to &= from;
        }
        least = least.min(key.least);
        greatest = greatest.max(key.greatest);
        threshold = threshold.min(key.threshold);
    }
    header[..8].copy_from_slice(&first.tag.to_le_bytes());
    header[0] = INNER;
    header[8..12].copy_from_slice(&least.to_le_bytes());
    header[12..16].copy_from_slice(&greatest.to_le_bytes());
    header[16..].copy_from_slice(&threshold.to_le_bytes());
}

/// Deals keys to two pages: true for the right one. Keys of one shape go half and half, those with more
/// set bits to the right; of several shapes none is divided, and GiST may have to split again. Seeds by distance, as is usual
/// for signatures, make pages whose unions have nearly all bits set and whose ranges of popcounts are as wide as the
/// table's.
///
/// Errors: out of memory.
pub fn split(keys: &[TreeKey<'_>]) -> Result<Vec<bool>> {
    let n = keys.len();
    let mut right = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    right
        .try_reserve(n)
        .and_then(|()| order.try_reserve(n))
        .map_err(|_| Error::out_of_memory(n * size_of::<usize>()))?;
    order.extend(0..n);
    order.sort_unstable_by(|&a, &b| keys[a].order(&keys[b]));
    right.resize(n, false);
    let middle = (1..n)
        .filter(|&i| keys[order[i - 1]].tag != keys[order[i]].tag)
        .min_by_key(|i| i.abs_diff(n / 2))
        .unwrap_or(n / 2);
    for &i in &order[middle..] {
        right[i] = true;
    }
    Ok(right)
}
