//! The sketch of all minima: the type `minhash`.

use super::header::{write_header, SketchView, HEADER};
use super::shape::{SketchKind, SketchShape};
use super::sign::Signer;
use base::Result;

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
        check(a.shape(), b.shape())?;
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
        check(shape, self.0.shape())?;
        write_header(shape, empty && self.0.is_empty(), bytes);
        let minima = bytes[HEADER..].as_chunks_mut().0.iter_mut();
        for (to, from) in minima.zip(self.values()) {
            *to = u32::from_le_bytes(*to).min(from).to_le_bytes();
        }
        Ok(())
    }
}

fn check(a: SketchShape, b: SketchShape) -> Result<()> {
    if a == b {
        return Ok(());
    }
    Err(SketchShape::mismatch(SketchKind::Minima, a, b))
}
