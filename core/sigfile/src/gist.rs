//! Keys of a signature tree and what they say of all signatures below them.
//!
//! Such a tree is an S-tree (U. Deppisch: S-Tree: A Dynamic Balanced Signature Index for Office Retrieval, SIGIR 1986)
//! whose inner keys have an intersection and a range of popcounts besides the union.
//!
//! A leaf key is a signature, the sampled bits of a sketch, or a query of either, byte for byte. An inner key stands
//! for a set of them:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | marker 0x81; 0x83 for keyed signatures |
//! | 1 | 7 | the shape, as in a signature, or the last seven bytes of the tag of [`RowShape`](crate::RowShape) |
//! | 8 | 4 | least number of set bits, little-endian |
//! | 12 | 4 | greatest number of set bits |
//! | 16 | 8 | least threshold of the queries below, 0 for signatures, −1 for sampled bits |
//! | 24 | 8 | the id of keyed signatures, as in one |
//! | 24 or 32 | ⌈m/8⌉ | union: the bits that any has |
//! | … | ⌈m/8⌉ | intersection: the bits that all have |
//!
//! Sampled bits are compared by how many differ, see [`Measure`](signature::similarity::Measure). Those of an empty set
//! have no bits, and the popcount n + 1.
//!
//! Where signatures of several shapes meet, the inner key is the marker 0x82 and seven zeros, and says
//! nothing. Nothing here refuses another shape: what is in an index may belong to rows that are deleted or
//! were never committed, so only code that looks at the row can tell whether it is an error. New rows are refused
//! before they come here.

use crate::{RowBits, RowShape};
use base::memory::{filled, with_room};
use base::{Error, ErrorKind, Result};
use signature::bits::{intersect_bits, popcount};
use signature::filter::query::{is_threshold, THRESHOLD};
use signature::filter::{is_full, QueryView, View, KEYED, VERSION};
use signature::similarity::{Measure, Popcounts};
use signature::sketch::{self, BitsQueryView, BitsView};

// What a key says of the signatures below it.

const INNER: u8 = 0x81;
const KEYED_INNER: u8 = 0x83;
const HEADER: usize = 24;
const KEYED_HEADER: usize = HEADER + size_of::<u64>();
const MIXED: [u8; 8] = [0x82, 0, 0, 0, 0, 0, 0, 0];

// shape, both popcounts, threshold; and an inner key of one shape is never as long as one of several
const _: () = assert!(HEADER == size_of::<u64>() + 2 * size_of::<u32>() + THRESHOLD);
const _: () = assert!(HEADER > MIXED.len() && INNER != VERSION && MIXED[0] != VERSION);
const _: () = assert!(VERSION == sketch::VERSION);

/// Penalties above all that bits can give: for a page of several shapes, and for one of another.
const TO_MIXED: f32 = 1e6;
const TO_OTHER: f32 = 2e6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Leaf,
    Inner,
    /// Inner, over several shapes.
    Mixed,
}

/// A leaf or an inner key.
#[derive(Clone, Copy, Debug)]
pub struct TreeKey<'a> {
    /// As [`View::tag`] or [`RowShape::tag_of_bits`]; 0 for several shapes.
    pub tag: u128,
    least: u32,
    greatest: u32,
    threshold: f64,
    union: &'a [u8],
    intersection: &'a [u8],
    level: Level,
}

impl<'a> TreeKey<'a> {
    /// The key of a row's bits, checked, and of the threshold of its query: 0 for a signature without one, and the
    /// [least](sketch::query::LEAST) for sampled bits.
    pub fn leaf(bits: RowBits<'a>, threshold: f64) -> TreeKey<'a> {
        TreeKey {
            tag: bits.tag,
            least: bits.popcount,
            greatest: bits.popcount,
            threshold,
            union: bits.bits,
            intersection: bits.bits,
            level: Level::Leaf,
        }
    }

    /// Whether it is of a signature that is full.
    pub fn is_full(&self) -> bool {
        match RowShape::of_tag(self.tag) {
            RowShape::Filter(shape) if self.level == Level::Leaf => is_full(self.least, shape.m()),
            _ => false,
        }
    }

    /// A leaf key as it is stored. Byte 1 is k of a signature, 1 at least, and 1 or 0 of a sketch, whose lengths no
    /// signature of one segment has.
    fn stored_leaf(bytes: &'a [u8]) -> Option<TreeKey<'a>> {
        if *bytes.get(1)? > 0 {
            if let Some(view) = View::stored(bytes) {
                return Some(view.into());
            }
            // One of a text is never stored in an index.
            if let Some(query) = QueryView::stored(bytes).filter(|q| q.edited.is_none()) {
                return Some(query.into());
            }
        }
        if BitsQueryView::stored(bytes).is_some() {
            return BitsQueryView::untrusted(bytes).ok().map(TreeKey::from);
        }
        BitsView::stored(bytes)?;
        BitsView::untrusted(bytes).ok().map(TreeKey::from)
    }

    /// A key as it is stored; `None` when the bytes are none.
    pub fn stored(bytes: &'a [u8]) -> Option<TreeKey<'a>> {
        if bytes == MIXED {
            return Some(TreeKey {
                tag: 0,
                least: 0,
                greatest: u32::MAX,
                threshold: 0.0,
                union: &[],
                intersection: &[],
                level: Level::Mixed,
            });
        }
        let (size, version) = match *bytes.first()? {
            INNER => (HEADER, VERSION),
            KEYED_INNER => (KEYED_HEADER, KEYED),
            _ => return TreeKey::stored_leaf(bytes)?.possible(),
        };
        let (header, bits) = bytes.split_at_checked(size)?;
        let four = |at: usize| header[at..at + 4].try_into().ok().map(u32::from_le_bytes);
        let (union, intersection) = bits.split_at(bits.len() / 2);
        let mut tag: [u8; 8] = header[..8].try_into().ok()?;
        tag[0] = version;
        let id = header[HEADER..].try_into().map_or(0, u64::from_be_bytes);
        let key = TreeKey {
            tag: u128::from(u64::from_le_bytes(tag)) | u128::from(id) << 64,
            least: four(8)?,
            greatest: four(12)?,
            threshold: f64::from_le_bytes(header[16..24].try_into().ok()?),
            union,
            intersection,
            level: Level::Inner,
        };
        if bits.len() != 2 * key.shape().bytes() {
            return None;
        }
        key.possible()
    }

    /// The key, if its numbers are such as its shape allows.
    #[inline(always)]
    fn possible(self) -> Option<TreeKey<'a>> {
        let (threshold, most) = match self.shape() {
            RowShape::Filter(shape) => (is_threshold(self.threshold), shape.m()),
            RowShape::Bits(shape) => {
                let threshold = sketch::query::is_threshold(self.threshold);
                (threshold, u32::from(shape.n()) + 1)
            }
        };
        (threshold && self.least <= self.greatest && self.greatest <= most).then_some(self)
    }

    /// The shape of the signatures below; that of no signature for a key over several shapes.
    pub fn shape(&self) -> RowShape {
        RowShape::of_tag(self.tag)
    }

    fn measure(&self) -> Measure {
        self.shape().measure()
    }

    /// Sampled bits of an empty set are below, or are this.
    fn has_empty(&self) -> bool {
        matches!(self.measure(), Measure::Agreement { bits } if self.greatest > bits)
    }

    /// Whether this is a leaf that cannot be compared with `query`: its row, if there is one, has to be.
    pub fn foreign(&self, query: &TreeKey<'_>) -> bool {
        self.level == Level::Leaf && self.tag != query.tag
    }

    /// The greatest similarity to `query`, a leaf, that a signature below can have, by the [`Measure`] of their shape.
    ///
    /// Let U be the union, N the intersection, l the least number of set bits and g the greatest.
    /// A signature x below has at most c = min(|U∧Q|, g) bits in common with Q. Outside Q it has
    /// at least |N∖Q| bits, since it contains N, and with i ≤ c common ones at least l−i. Its
    /// similarity i/(|Q|+|x∖Q|) is thus at most i/(|Q|+max(|N∖Q|, l−i)), which grows with i: the
    /// numerator does, and the denominator does not. At i = c that is the bound, and because
    /// division rounds monotonically it holds for the float8 quotients, too. Likewise x differs from Q in
    /// |Q|−i+|x∖Q| bits, which is at least |Q|−i+max(|N∖Q|, l−i) and falls with i. An empty set below has similarity 0.
    /// For a leaf the bound is the similarity itself. It is 1 where shapes differ.
    pub fn bound(&self, query: &TreeKey<'_>) -> f64 {
        if self.tag != query.tag {
            return 1.0;
        }
        let q = query.least;
        let common = intersect_bits(self.union, query.union).min(self.greatest);
        if self.level == Level::Leaf {
            let (a, b) = (self.least, q);
            return self.measure().similarity(Popcounts { a, b, common });
        }
        let inside = intersect_bits(self.intersection, query.union);
        let outside = (popcount(self.intersection) - inside).max(self.least.saturating_sub(common));
        let (a, b) = (outside + common, q);
        self.measure().similarity(Popcounts { a, b, common })
    }

    /// The least distance to `query` that a signature below can have: what none undercuts, and exact for a leaf. It
    /// is 0 where shapes differ.
    pub fn distance(&self, query: &TreeKey<'_>) -> f64 {
        self.measure().distance(self.bound(query))
    }

    /// Whether a signature below may reach `query`'s threshold, and its own, or is of another shape.
    ///
    /// The estimate of an empty set is 0, which is more than some others have, while its similarity is the least.
    pub fn may_match(&self, query: &TreeKey<'_>) -> bool {
        let threshold = query.threshold.max(self.threshold);
        self.tag != query.tag
            || self.measure().for_user(self.bound(query)) >= threshold
            || self.has_empty() && threshold <= 0.0
    }

    /// Whether a signature below may have every bit of `query`: the union must. Or is of another shape.
    pub fn may_contain(&self, query: &TreeKey<'_>) -> bool {
        self.tag != query.tag
            || intersect_bits(self.union, query.union) == query.least
                && self.greatest >= query.least
    }

    /// Whether a signature below may have all its bits in `query`: the intersection must, and some
    /// signature has as few. Or is of another shape.
    pub fn may_be_within(&self, query: &TreeKey<'_>) -> bool {
        if self.tag != query.tag {
            return true;
        }
        let inside = intersect_bits(self.intersection, query.union);
        inside == popcount(self.intersection) && self.least <= query.least
    }

    /// Whether a signature below may equal `query`. Different shapes are unequal.
    pub fn may_equal(&self, query: &TreeKey<'_>) -> bool {
        if self.tag != query.tag {
            return self.level == Level::Mixed;
        }
        let inside = intersect_bits(self.intersection, query.union);
        intersect_bits(self.union, query.union) == popcount(query.union)
            && inside == popcount(self.intersection)
            && (self.least..=self.greatest).contains(&query.least)
    }

    /// What taking `new` in costs: bits that the union gains and the intersection loses, and how
    /// much the range of popcounts widens. Shapes are kept apart as long as that is possible.
    pub fn penalty(&self, new: &TreeKey<'_>) -> f32 {
        if self.level == Level::Mixed || new.level == Level::Mixed {
            return TO_MIXED;
        }
        if self.tag != new.tag {
            return TO_OTHER;
        }
        let gained = popcount(new.union) - intersect_bits(self.union, new.union);
        let lost =
            popcount(self.intersection) - intersect_bits(self.intersection, new.intersection);
        let wider =
            self.least.saturating_sub(new.least) + new.greatest.saturating_sub(self.greatest);
        (gained + lost + wider) as f32
    }

    /// An order whose neighbours belong on one page: by shape, then by the number of set bits, or the
    /// middle of its range, then by the bits.
    pub fn order(&self, other: &TreeKey<'_>) -> std::cmp::Ordering {
        let middle = |key: &TreeKey<'_>| u64::from(key.least) + u64::from(key.greatest);
        self.tag
            .cmp(&other.tag)
            .then_with(|| middle(self).cmp(&middle(other)))
            .then_with(|| self.union.cmp(other.union))
    }

    /// For people who look into an index.
    pub fn describe(&self) -> String {
        if self.level == Level::Mixed {
            return "several shapes".to_owned();
        }
        let shape = self.shape();
        if self.level == Level::Leaf && self.has_empty() {
            return format!("{shape} of an empty set");
        }
        if self.level == Level::Leaf {
            return format!("{shape} with {} bits", self.least);
        }
        let empty = if self.has_empty() { ", empty sets" } else { "" };
        format!(
            "{shape} with {} to {} bits, union of {}, intersection of {}{empty}",
            self.least,
            self.greatest.min(shape.bits()),
            popcount(self.union),
            popcount(self.intersection)
        )
    }
}

impl<'a> From<View<'a>> for TreeKey<'a> {
    fn from(signature: View<'a>) -> TreeKey<'a> {
        TreeKey::leaf(signature.into(), 0.0)
    }
}

impl<'a> From<QueryView<'a>> for TreeKey<'a> {
    fn from(query: QueryView<'a>) -> TreeKey<'a> {
        TreeKey::leaf(query.signature.into(), query.threshold)
    }
}

impl<'a> From<BitsView<'a>> for TreeKey<'a> {
    fn from(bits: BitsView<'a>) -> TreeKey<'a> {
        TreeKey::leaf(bits.into(), sketch::query::LEAST)
    }
}

impl<'a> From<BitsQueryView<'a>> for TreeKey<'a> {
    fn from(query: BitsQueryView<'a>) -> TreeKey<'a> {
        TreeKey::leaf(query.sketch.into(), query.threshold)
    }
}

// How the tree grows: keys that stand for several, and pages that are split.

/// Bytes of an inner key that leave room for four on a page.
pub const LARGEST: usize = 2000;

/// Bytes of an inner key in front of its bits.
fn header_of(shape: RowShape) -> usize {
    match shape {
        RowShape::Filter(shape) if shape.is_keyed() => KEYED_HEADER,
        _ => HEADER,
    }
}

/// Bytes of an inner key of this shape.
///
/// Errors: a shape that does not fit a page.
pub fn inner_size(shape: RowShape) -> Result<usize> {
    let header = header_of(shape);
    let size = header + 2 * shape.bytes();
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
        (LARGEST - header) / 2 * 8
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
    let (header, bits) = out.split_at_mut(header_of(first.shape()));
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
    header[..8].copy_from_slice(&(first.tag as u64).to_le_bytes());
    header[0] = INNER;
    if header.len() > HEADER {
        header[0] = KEYED_INNER;
        header[HEADER..].copy_from_slice(&((first.tag >> 64) as u64).to_be_bytes());
    }
    header[8..12].copy_from_slice(&least.to_le_bytes());
    header[12..16].copy_from_slice(&greatest.to_le_bytes());
    header[16..HEADER].copy_from_slice(&threshold.to_le_bytes());
}

/// Deals keys to two pages: true for the right one. Keys of one shape go half and half, those with more
/// set bits to the right; of several shapes none is divided, and GiST may have to split again. Seeds by distance, as is
/// usual for signatures, make pages whose unions have nearly all bits set and whose ranges of popcounts are as wide as
/// the table's.
///
/// Errors: out of memory.
pub fn split(keys: &[TreeKey<'_>]) -> Result<Vec<bool>> {
    let n = keys.len();
    let (mut right, mut order) = (filled(n, false)?, with_room(n)?);
    order.extend(0..n);
    order.sort_unstable_by(|&a, &b| keys[a].order(&keys[b]));
    let middle = (1..n)
        .filter(|&i| keys[order[i - 1]].tag != keys[order[i]].tag)
        .min_by_key(|i| i.abs_diff(n / 2))
        .unwrap_or(n / 2);
    for &i in &order[middle..] {
        right[i] = true;
    }
    Ok(right)
}
