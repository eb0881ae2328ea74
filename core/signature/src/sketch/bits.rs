//! The sketch of the lowest bit of each minimum: the type `minhash_bits`.

use super::header::{write_header, SketchView, HEADER};
use super::shape::{SketchKind, SketchShape};
use super::sign::Signer;
use crate::bits::{differing_bits, to_bytes};
use base::Result;

/// Writes the sampled sketch of a set into `to`, which has the header and ⌈n/8⌉ bytes.
pub fn write_bits(signer: &mut Signer, to: &mut [u8]) {
    let shape = signer.shape();
    let (empty, minima) = signer.minima();
    write(shape, empty, minima.iter().copied(), to);
}

/// The same of the minima of a set.
pub fn sample(minima: &MinimaView<'_>, to: &mut [u8]) {
    let sketch = minima.sketch();
    write(sketch.shape(), sketch.is_empty(), minima.values(), to);
}

/// Bit i is in byte i/8 at 2^(i mod 8). An empty set has no bits.
fn write(shape: SketchShape, empty: bool, mut minima: impl Iterator<Item = u32>, to: &mut [u8]) {
    write_header(shape, empty, to);
    for byte in &mut to[HEADER..] {
        // 0 behind the last
        let mut next = || minima.next().unwrap_or(0) & u32::from(!empty);
        *byte = (0..8).fold(0, |byte, i| byte | (next() << i) as u8);
    }
}

/// Writes a sampled sketch of which the bits are known, as many whole words as they take; none of an empty set is set.
pub fn write_stored(shape: SketchShape, empty: bool, words: &[u64], to: &mut [u8]) {
    write_header(shape, empty, to);
    to_bytes(words, &mut to[HEADER..]);
}

/// The estimate of `agree` equal bits of `n`, between −1 and 1: (2·agree − n)/n.
///
/// Bits of unequal minima agree half of the time, so sets without a common token come out at 0 on average, and half of
/// them below.
#[inline]
pub fn agreement(agree: u32, n: u16) -> f64 {
    let n = i32::from(n);
    f64::from(2 * agree as i32 - n) / f64::from(n)
}

/// The least number of equal bits of `n` whose estimate reaches the threshold, found by testing the quotient; `None`
/// when none does, as when the threshold is NaN.
pub fn least_agreeing(n: u16, threshold: f64) -> Option<u32> {
    let most = u32::from(n);
    let reaches = |agree: u32| agreement(agree, n) >= threshold;
    if !reaches(most) {
        return None;
    }
    // `as` saturates, and the quotient grows with the equal bits, so any start will do
    let mut agree = (((threshold + 1.0) / 2.0 * f64::from(n)) as u32).min(most);
    while agree > 0 && reaches(agree - 1) {
        agree -= 1;
    }
    while !reaches(agree) {
        agree += 1;
    }
    Some(agree)
}

/// A sampled sketch's bytes, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitsView<'a>(SketchView<'a>);

impl<'a> BitsView<'a> {
    /// A view of bytes that a checked path has stored; `None` when they are no sketch of this kind.
    #[inline]
    pub fn stored(bytes: &'a [u8]) -> Option<BitsView<'a>> {
        SketchView::stored(SketchKind::Bits, bytes).map(BitsView)
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: those of [`SketchView::untrusted`].
    pub fn untrusted(bytes: &'a [u8]) -> Result<BitsView<'a>> {
        SketchView::untrusted(SketchKind::Bits, bytes).map(BitsView)
    }

    /// What both kinds have.
    #[inline]
    pub fn sketch(&self) -> SketchView<'a> {
        self.0
    }

    /// The bits in which both sketches differ; `None` where one is that of an empty set.
    ///
    /// Errors: different shapes.
    #[inline]
    pub fn hamming(&self, other: &BitsView<'_>) -> Result<Option<u32>> {
        let (a, b) = (self.0, other.0);
        check(SketchKind::Bits, a.shape(), b.shape())?;
        if a.is_empty() || b.is_empty() {
            return Ok(None);
        }
        Ok(Some(differing_bits(a.payload(), b.payload())))
    }

    /// The estimated Jaccard similarity of both sets, between −1 and 1, see [`agreement`]. It is 0 where one set is
    /// empty.
    ///
    /// Errors: different shapes.
    #[inline]
    pub fn similarity(&self, other: &BitsView<'_>) -> Result<f64> {
        let n = self.0.shape().n;
        let differ = self.hamming(other)?;
        Ok(differ.map_or(0.0, |differ| agreement(u32::from(n) - differ, n)))
    }

    /// What nearest neighbours are ordered by: the bits that differ, and infinity where one set is empty, so that empty
    /// sets come last.
    ///
    /// Errors: different shapes.
    pub fn distance(&self, other: &BitsView<'_>) -> Result<f64> {
        Ok(self.hamming(other)?.map_or(f64::INFINITY, f64::from))
    }
}

// The sketch of all minima: the type `minhash`.

/// Writes the sketch of a set into `to`, which has the header and four bytes for each minimum.
pub fn write_minima(signer: &mut Signer, to: &mut [u8]) {
    let shape = signer.shape();
    let (empty, minima) = signer.minima();
    write_header(shape, empty, to);
    for (to, minimum) in to[HEADER..].as_chunks_mut().0.iter_mut().zip(minima) {
        *to = minimum.to_le_bytes();
    }
}

/// A sketch's bytes, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimaView<'a>(SketchView<'a>);

impl<'a> MinimaView<'a> {
    /// A view of bytes that a checked path has stored; `None` when they are no sketch of this kind.
    #[inline]
    pub fn stored(bytes: &'a [u8]) -> Option<MinimaView<'a>> {
        SketchView::stored(SketchKind::Minima, bytes).map(MinimaView)
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: those of [`SketchView::untrusted`].
    pub fn untrusted(bytes: &'a [u8]) -> Result<MinimaView<'a>> {
        SketchView::untrusted(SketchKind::Minima, bytes).map(MinimaView)
    }

    /// What both kinds have.
    #[inline]
    pub fn sketch(&self) -> SketchView<'a> {
        self.0
    }

    /// The minima in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = u32> + 'a {
        let words = self.0.payload().as_chunks().0;
        words.iter().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// The estimated Jaccard similarity of both sets: the share of equal minima. It is 0 where one set is empty.
    ///
    /// Errors: different shapes.
    pub fn similarity(&self, other: &MinimaView<'_>) -> Result<f64> {
        let (a, b) = (self.0, other.0);
        check(SketchKind::Minima, a.shape(), b.shape())?;
        if a.is_empty() || b.is_empty() {
            return Ok(0.0);
        }
        let (a, b) = (a.payload().as_chunks::<4>().0, b.payload().as_chunks().0);
        let equal: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a == b)).sum();
        Ok(f64::from(equal) / a.len() as f64)
    }

    /// Makes the sketch in `bytes` that of the union of its set and this one.
    ///
    /// Errors: different shapes.
    pub fn unite_into(&self, bytes: &mut [u8]) -> Result<()> {
        let to = MinimaView::stored(bytes).map(|to| (to.0.shape(), to.0.is_empty()));
        let (shape, empty) = to.expect("the caller has looked at the bytes");
        check(SketchKind::Minima, shape, self.0.shape())?;
        write_header(shape, empty && self.0.is_empty(), bytes);
        let minima = bytes[HEADER..].as_chunks_mut().0.iter_mut();
        for (to, from) in minima.zip(self.values()) {
            *to = u32::from_le_bytes(*to).min(from).to_le_bytes();
        }
        Ok(())
    }
}

/// Errors: different shapes.
fn check(kind: SketchKind, a: SketchShape, b: SketchShape) -> Result<()> {
    if a == b {
        return Ok(());
    }
    Err(SketchShape::mismatch(kind, a, b))
}
