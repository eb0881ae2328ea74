//! A signature and the similarity that it is searched with.
//!
//! Bytes: those of the signature, then the threshold as a little-endian float8.

use base::memory::reserve;
use std::fmt::Write;

use super::layout::LONGEST;
use super::layout::{parse_text, write_text, View};
use base::range::unit;
use base::{Error, ErrorKind, Result};

/// Bytes of the threshold.
pub const THRESHOLD: usize = size_of::<f64>();

/// A threshold that no similarity reaches.
pub const NEVER: f64 = 2.0;

/// Whether a query can have this threshold: one in 0…1, or [`NEVER`], since such queries are dumped and restored.
#[inline]
pub fn is_threshold(threshold: f64) -> bool {
    (0.0..=1.0).contains(&threshold) || threshold == NEVER
}

/// Errors: a threshold that no query of these can have.
fn check_threshold(threshold: f64, is_threshold: fn(f64) -> bool) -> Result<()> {
    match is_threshold(threshold) {
        true => Ok(()),
        false => unit("threshold", threshold),
    }
}

/// A query's bytes, checked.
#[derive(Clone, Copy, Debug)]
pub struct QueryView<'a> {
    /// The signature that rows are compared with.
    pub signature: View<'a>,
    /// In 0…1, or [`NEVER`] in queries that a comparison was rewritten to.
    pub threshold: f64,
}

impl<'a> QueryView<'a> {
    /// A view of bytes that a checked path has stored; `None` when they are no query.
    #[inline]
    pub fn stored(bytes: &'a [u8]) -> Option<QueryView<'a>> {
        let (signature, threshold) = bytes.split_last_chunk::<THRESHOLD>()?;
        Some(QueryView {
            signature: View::stored(signature)?,
            threshold: f64::from_le_bytes(*threshold),
        })
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: a malformed signature, a threshold outside 0…1 and not [`NEVER`].
    pub fn untrusted(bytes: &'a [u8]) -> Result<QueryView<'a>> {
        let (signature, threshold) = split_untrusted(bytes, is_threshold)?;
        Ok(QueryView {
            signature: View::untrusted(signature)?,
            threshold,
        })
    }
}

/// Appends the text form: the threshold, a blank, and the signature.
pub fn write_query_text(query: &QueryView<'_>, out: &mut String) {
    let _ = write!(out, "{} ", query.threshold);
    write_text(&query.signature, out);
}

/// Reads the text form into `out`, which is emptied first.
///
/// Errors: malformed text, a threshold outside 0…1 and not [`NEVER`]; out of memory.
pub fn parse_query_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let example =
        "A query is written as its threshold and its signature, for example 0.8 (2,5,3):1f03.";
    let (threshold, signature) = split_text("bloom_query", example, text, is_threshold)?;
    parse_text(signature, out)?;
    push_threshold(threshold, out)
}

/// The value of a query's bytes from anywhere, and the threshold behind it.
///
/// Errors: too few bytes; a threshold that no query of these can have.
pub(crate) fn split_untrusted(bytes: &[u8], is_threshold: fn(f64) -> bool) -> Result<(&[u8], f64)> {
    let bad = |error: Error| error.of_kind(ErrorKind::InvalidBinary);
    let Some((value, threshold)) = bytes.split_last_chunk::<THRESHOLD>() else {
        let message = format!("query of {} bytes is too short", bytes.len());
        return Err(bad(Error::invalid(message)));
    };
    let threshold = f64::from_le_bytes(*threshold);
    check_threshold(threshold, is_threshold).map_err(bad)?;
    Ok((value, threshold))
}

/// The threshold of a query's text, and the text of its value. `example` is a sentence with one.
///
/// Errors: no threshold before a blank; one that no query of these can have.
pub(crate) fn split_text<'t>(
    of: &str,
    example: &str,
    text: &'t str,
    is_threshold: fn(f64) -> bool,
) -> Result<(f64, &'t str)> {
    let parts = text.trim().split_once(' ');
    let parts = parts.and_then(|(threshold, value)| Some((threshold.parse().ok()?, value)));
    let (threshold, value) = parts.ok_or_else(|| {
        let shown: String = text.chars().take(LONGEST).collect();
        let message = format!("invalid input syntax for type {of}: \"{shown}\"");
        Error::new(ErrorKind::InvalidText, message).detail(example)
    })?;
    check_threshold(threshold, is_threshold)?;
    Ok((threshold, value))
}

/// Appends the threshold to the bytes of a query's value.
///
/// Errors: out of memory.
pub(crate) fn push_threshold(threshold: f64, out: &mut Vec<u8>) -> Result<()> {
    reserve(out, THRESHOLD)?;
    out.extend_from_slice(&threshold.to_le_bytes());
    Ok(())
}
