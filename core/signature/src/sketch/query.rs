//! A sampled sketch and the similarity that it is searched with.
//!
//! Bytes: those of the sketch, then the threshold as a little-endian float8.

use std::fmt::Write;

use super::bits::BitsView;
use super::header::{parse_text, write_text};
use super::shape::SketchKind;
use crate::filter::query::{push_threshold, split_text, split_untrusted, NEVER, THRESHOLD};
use base::Result;

/// The least estimate that there is: every row reaches it.
pub const LEAST: f64 = -1.0;

/// Whether a query can have this threshold. One in −1…0 or [`NEVER`] comes from a comparison, since such queries are
/// dumped and restored.
pub fn is_threshold(threshold: f64) -> bool {
    (LEAST..=1.0).contains(&threshold) || threshold == NEVER
}

/// A query's bytes, checked.
#[derive(Clone, Copy, Debug)]
pub struct BitsQueryView<'a> {
    /// The sketch that rows are compared with.
    pub sketch: BitsView<'a>,
    /// In 0…1; in queries that a comparison was rewritten to, from −1 on, or [`NEVER`].
    pub threshold: f64,
}

impl<'a> BitsQueryView<'a> {
    /// A view of bytes that a checked path has stored; `None` when they are no query.
    #[inline]
    pub fn stored(bytes: &'a [u8]) -> Option<BitsQueryView<'a>> {
        let (sketch, threshold) = bytes.split_last_chunk::<THRESHOLD>()?;
        Some(BitsQueryView {
            sketch: BitsView::stored(sketch)?,
            threshold: f64::from_le_bytes(*threshold),
        })
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: a malformed sketch, a threshold that no query can have.
    pub fn untrusted(bytes: &'a [u8]) -> Result<BitsQueryView<'a>> {
        let (sketch, threshold) = split_untrusted(bytes, is_threshold)?;
        Ok(BitsQueryView {
            sketch: BitsView::untrusted(sketch)?,
            threshold,
        })
    }
}

/// Appends the text form: the threshold, a blank, and the sketch.
pub fn write_bits_query_text(query: &BitsQueryView<'_>, out: &mut String) {
    let _ = write!(out, "{} ", query.threshold);
    write_text(&query.sketch.sketch(), out);
}

/// Reads the text form into `out`, which is emptied first.
///
/// Errors: malformed text, a threshold that no query can have; out of memory.
pub fn parse_bits_query_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let example = "A query is written as its threshold and its bits, for example 0.8 (8):1f.";
    let (threshold, sketch) = split_text("minhash_query", example, text, is_threshold)?;
    parse_text(SketchKind::Bits, sketch, out)?;
    push_threshold(threshold, out)
}
