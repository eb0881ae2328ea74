//! Keys of a signature tree and what they say of all signatures below them.
//!
//! A leaf key is a signature or a query, byte for byte. An inner key stands for a set of them:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | marker 0x81 |
//! | 1 | 7 | the shape, as in a signature |
//! | 8 | 4 | least number of set bits, little-endian |
//! | 12 | 4 | greatest number of set bits |
//! | 16 | 8 | least threshold of the queries below, 0 for signatures |
//! | 24 | ⌈m/8⌉ | union: the bits that any has |
//! | … | ⌈m/8⌉ | intersection: the bits that all have |

use crate::filter::{QueryView, Shape, View, VERSION};
use crate::similarity::{count_bits, intersect_bits, Counts};
use crate::{Error, Kind, Result};

const INNER: u8 = 0x81;
const HEADER: usize = 24;

/// Bytes of an inner key that leave room for four on a page.
pub const LARGEST: usize = 2000;

/// A leaf or an inner key.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// As [`View::tag`].
    tag: u64,
    least: u32,
    greatest: u32,
    threshold: f64,
    union: &'a [u8],
    intersection: &'a [u8],
    leaf: bool,
}

impl<'a> Key<'a> {
    pub fn of_signature(view: View<'a>) -> Key<'a> {
        Key {
            tag: view.tag(),
            least: view.count(),
            greatest: view.count(),
            threshold: 0.0,
            union: view.bits(),
            intersection: view.bits(),
            leaf: true,
        }
    }

    pub fn of_query(query: QueryView<'a>) -> Key<'a> {
        Key {
            threshold: query.threshold,
            ..Key::of_signature(query.signature)
        }
    }

    /// A key as it is stored; `None` when the bytes are none.
    pub fn stored(bytes: &'a [u8]) -> Option<Key<'a>> {
        if bytes.first() != Some(&INNER) {
            return View::stored(bytes)
                .map(Key::of_signature)
                .or_else(|| QueryView::stored(bytes).map(Key::of_query));
        }
        let (header, bits) = bytes.split_at_checked(HEADER)?;
        let four = |at: usize| header[at..at + 4].try_into().ok().map(u32::from_le_bytes);
        let (union, intersection) = bits.split_at(bits.len() / 2);
        let mut tag: [u8; 8] = header[..8].try_into().ok()?;
        tag[0] = VERSION;
        let key = Key {
            tag: u64::from_le_bytes(tag),
            least: four(8)?,
            greatest: four(12)?,
            threshold: f64::from_le_bytes(header[16..24].try_into().ok()?),
            union,
            intersection,
            leaf: false,
        };
        (bits.len() == 2 * key.shape().bytes()).then_some(key)
    }

    pub fn shape(&self) -> Shape {
        Shape::of_tag(self.tag)
    }

    /// Errors: different shapes.
    fn check(&self, other: &Key<'_>) -> Result<()> {
        if self.tag == other.tag {
            Ok(())
        } else {
            Err(Shape::mismatch(self.shape(), other.shape()))
        }
    }

    /// The greatest similarity to `query`, a leaf, that a signature below can have.
    ///
    /// Let U be the union, N the intersection, l the least number of set bits and g the greatest.
    /// A signature x below has at most c = min(|U∧Q|, g) bits in common with Q. Outside Q it has
    /// at least |N∖Q| bits, since it contains N, and with i ≤ c common ones at least l−i. Its
    /// similarity i/(|Q|+|x∖Q|) is thus at most i/(|Q|+max(|N∖Q|, l−i)), which grows with i: the
    /// numerator does, and the denominator does not. At i = c that is the bound, and because
    /// division rounds monotonically it holds for the float8 quotients, too. For a leaf it is the
    /// similarity itself.
    ///
    /// Errors: different shapes.
    pub fn bound(&self, query: &Key<'_>) -> Result<f64> {
        self.check(query)?;
        let q = query.least;
        let common = intersect_bits(self.union, query.union).min(self.greatest);
        if self.leaf {
            let (a, b) = (self.least, q);
            return Ok(Counts { a, b, common }.jaccard());
        }
        let inside = intersect_bits(self.intersection, query.union);
        let outside =
            (count_bits(self.intersection) - inside).max(self.least.saturating_sub(common));
        let (a, b) = (outside + common, q);
        Ok(Counts { a, b, common }.jaccard())
    }

    /// Whether a signature below may reach `query`'s threshold, and its own.
    ///
    /// Errors: different shapes.
    pub fn may_match(&self, query: &Key<'_>) -> Result<bool> {
        Ok(self.bound(query)? >= query.threshold.max(self.threshold))
    }

    /// Whether a signature below may have every bit of `query`: the union must.
    ///
    /// Errors: different shapes.
    pub fn may_contain(&self, query: &Key<'_>) -> Result<bool> {
        self.check(query)?;
        Ok(intersect_bits(self.union, query.union) == query.least && self.greatest >= query.least)
    }

    /// Whether a signature below may have all its bits in `query`: the intersection must, and some
    /// signature has as few.
    ///
    /// Errors: different shapes.
    pub fn may_be_within(&self, query: &Key<'_>) -> Result<bool> {
        self.check(query)?;
        let inside = intersect_bits(self.intersection, query.union);
        Ok(inside == count_bits(self.intersection) && self.least <= query.least)
    }

    /// Whether a signature below may equal `query`. Different shapes are unequal.
    pub fn may_equal(&self, query: &Key<'_>) -> bool {
        self.tag == query.tag
            && matches!(self.may_contain(query), Ok(true))
            && matches!(self.may_be_within(query), Ok(true))
    }

    /// What taking `new` in costs: bits that the union gains and the intersection loses, and how
    /// much the range of bit counts widens.
    ///
    /// Errors: different shapes.
    pub fn penalty(&self, new: &Key<'_>) -> Result<f32> {
        self.check(new)?;
        let gained = count_bits(new.union) - intersect_bits(self.union, new.union);
        let lost =
            count_bits(self.intersection) - intersect_bits(self.intersection, new.intersection);
        let wider =
            self.least.saturating_sub(new.least) + new.greatest.saturating_sub(self.greatest);
        Ok((gained + lost + wider) as f32)
    }

    /// An order whose neighbours belong on one page: by the number of set bits, or the middle of its
    /// range, then by the bits.
    pub fn order(&self, other: &Key<'_>) -> std::cmp::Ordering {
        let middle = |key: &Key<'_>| u64::from(key.least) + u64::from(key.greatest);
        middle(self)
            .cmp(&middle(other))
            .then_with(|| self.union.cmp(other.union))
    }

    /// For people who look into an index.
    pub fn describe(&self) -> String {
        if self.leaf {
            return format!("{} with {} bits", self.shape(), self.least);
        }
        format!(
            "{} with {} to {} bits, union of {}, intersection of {}",
            self.shape(),
            self.least,
            self.greatest,
            count_bits(self.union),
            count_bits(self.intersection)
        )
    }
}

/// Bytes of an inner key of this shape.
///
/// Errors: a shape that does not fit a page.
pub fn inner_size(shape: Shape) -> Result<usize> {
    let size = HEADER + 2 * shape.bytes();
    if size <= LARGEST {
        return Ok(size);
    }
    Err(Error::new(
        Kind::DataException,
        format!("signature shape {shape} is too large for a gist index"),
    )
    .detail(format!(
        "It has {} bits; the index takes up to {}.",
        shape.m(),
        (LARGEST - HEADER) / 2 * 8
    ))
    .hint("Use a lower max_chars or a higher fpr."))
}

/// Writes the key that stands for all of `keys`, one at least, to `out`, of [`inner_size`] bytes.
///
/// Errors: different shapes.
pub fn unite<'a>(keys: impl IntoIterator<Item = Key<'a>>, out: &mut [u8]) -> Result<()> {
    let mut keys = keys.into_iter();
    let first = keys.next().expect("at least one key");
    let (header, bits) = out.split_at_mut(HEADER);
    let (union, intersection) = bits.split_at_mut(bits.len() / 2);
    union.copy_from_slice(first.union);
    intersection.copy_from_slice(first.intersection);
    let (mut least, mut greatest, mut threshold) = (first.least, first.greatest, first.threshold);
    for key in keys {
        first.check(&key)?;
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
    Ok(())
}

/// Deals keys to two pages of half of them each: true for the right one, which gets those with more
/// set bits. Seeds by distance, as is usual for signatures, make pages whose unions have nearly
/// all bits set and whose ranges of counts are as wide as the table's.
///
/// Errors: different shapes; out of memory.
pub fn split(keys: &[Key<'_>]) -> Result<Vec<bool>> {
    let n = keys.len();
    let mut right = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    right
        .try_reserve(n)
        .and_then(|()| order.try_reserve(n))
        .map_err(|_| Error::out_of_memory(n * size_of::<usize>()))?;
    if let Some(first) = keys.first() {
        keys.iter().try_for_each(|key| first.check(key))?;
    }
    order.extend(0..n);
    order.sort_unstable_by(|&a, &b| keys[a].order(&keys[b]));
    right.resize(n, false);
    for &i in &order[n / 2..] {
        right[i] = true;
    }
    Ok(right)
}
