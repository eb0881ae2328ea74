//! A signature and the similarity that it is searched with.
//!
//! Bytes: those of the signature, then the threshold as a little-endian float8. A query for what is within some edits of a
//! text has the number of edits, one byte, and the normal form of the text between them.

use base::memory::reserve;
use std::fmt::Write;

use super::layout::LONGEST;
use super::layout::{parse_text, write_text, View};
use base::range::unit;
use base::{Error, ErrorKind, Result};
use text::MOST_EDITS;

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

/// A text that rows have to be within some edits of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edited<'a> {
    /// Its normal form, of letters and digits only.
    pub text: &'a str,
    /// So many edits at most.
    pub edits: u8,
}

impl<'a> Edited<'a> {
    /// Symbols of a text at most: longer ones are no names.
    pub const LONGEST: usize = 255;

    /// `None` if it is none.
    pub fn new(text: &'a str, edits: u32) -> Option<Edited<'a>> {
        let is_symbol = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_text = (1..=Self::LONGEST).contains(&text.len()) && text.bytes().all(is_symbol);
        (is_text && edits <= MOST_EDITS).then_some(Edited {
            text,
            edits: edits as u8,
        })
    }

    fn stored(bytes: &'a [u8]) -> Option<Edited<'a>> {
        let (&edits, text) = bytes.split_first()?;
        Edited::new(str::from_utf8(text).ok()?, edits.into())
    }

    /// What a query has between its signature and its threshold.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + 'a {
        std::iter::once(self.edits).chain(self.text.bytes())
    }
}

/// What can stand behind the signature of a query.
const OF_TEXT: &str = "Behind the signature stand a number of edits from 0 to 31 and a text of 1 to 255 lower-case letters and digits.";

/// Errors: a signature that no edits of a text tell of.
fn check_of_text(signature: &[u8], kind: ErrorKind) -> Result<()> {
    let shape = View::stored(signature).map(|view| view.shape());
    let checked = shape.map_or(Ok(()), |shape| shape.check_of_ngrams());
    checked.map_err(|error| error.of_kind(kind))
}

/// A query's bytes, checked.
#[derive(Clone, Copy, Debug)]
pub struct QueryView<'a> {
    /// The signature that rows are compared with.
    pub signature: View<'a>,
    /// In 0…1, or [`NEVER`] in queries that a comparison was rewritten to.
    pub threshold: f64,
    /// What rows have to be within some edits of, as far as their signatures tell.
    pub edited: Option<Edited<'a>>,
}

impl<'a> QueryView<'a> {
    /// A view of bytes that a checked path has stored; `None` when they are no query.
    #[inline]
    pub fn stored(bytes: &'a [u8]) -> Option<QueryView<'a>> {
        let (front, threshold) = bytes.split_last_chunk::<THRESHOLD>()?;
        let (signature, rest) = View::split(front)?;
        Some(QueryView {
            signature,
            threshold: f64::from_le_bytes(*threshold),
            edited: match rest {
                [] => None,
                rest => Some(Edited::stored(rest)?),
            },
        })
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: a malformed signature, or one that no edits of a text tell of; a threshold outside 0…1 and not [`NEVER`].
    pub fn untrusted(bytes: &'a [u8]) -> Result<QueryView<'a>> {
        let (front, threshold) = split_untrusted(bytes, is_threshold)?;
        let (signature, rest) = match View::split(front) {
            Some((signature, rest)) => (signature.bytes(), rest),
            None => (front, &front[..0]),
        };
        let view = View::untrusted(signature)?;
        let edited = match rest {
            [] => None,
            rest => {
                check_of_text(signature, ErrorKind::InvalidBinary)?;
                let edited = Edited::stored(rest).ok_or_else(|| {
                    let message =
                        format!("invalid {} bytes behind a query's signature", rest.len());
                    Error::new(ErrorKind::InvalidBinary, message).detail(OF_TEXT)
                });
                Some(edited?)
            }
        };
        Ok(QueryView {
            signature: view,
            threshold,
            edited,
        })
    }
}

/// Appends the text form: the threshold, a blank, and the signature; then, after blanks, a number of edits and a text.
pub fn write_query_text(query: &QueryView<'_>, out: &mut String) {
    let _ = write!(out, "{} ", query.threshold);
    write_text(&query.signature, out);
    if let Some(Edited { text, edits }) = query.edited {
        let _ = write!(out, " {edits} {text}");
    }
}

/// Reads the text form into `out`, which is emptied first.
///
/// Errors: malformed text, a threshold outside 0…1 and not [`NEVER`]; out of memory.
pub fn parse_query_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let example =
        "A query is written as its threshold and its signature, for example 0.8 (2,5,3):1f03.";
    let (threshold, rest) = split_text("bloom_query", example, text, is_threshold)?;
    let rest = rest.trim();
    // The text form of a signature ends with its hexadecimal digits.
    let digits = rest.find("):").unwrap_or(rest.len());
    let end = rest[digits..]
        .find(' ')
        .map_or(rest.len(), |at| digits + at);
    let (signature, edited) = rest.split_at(end);
    parse_text(signature, out)?;
    if !edited.is_empty() {
        let invalid = || {
            let shown: String = text.chars().take(LONGEST).collect();
            let message = format!("invalid input syntax for type bloom_query: \"{shown}\"");
            Error::new(ErrorKind::InvalidText, message).detail(OF_TEXT)
        };
        let (edits, of) = edited.trim().split_once(' ').ok_or_else(invalid)?;
        let is_number = edits.bytes().all(|byte| byte.is_ascii_digit());
        let edits = edits.parse().ok().filter(|_| is_number);
        let edited = edits.and_then(|edits| Edited::new(of.trim(), edits));
        let edited = edited.ok_or_else(invalid)?;
        check_of_text(out, ErrorKind::InvalidText)?;
        reserve(out, 1 + Edited::LONGEST)?;
        out.extend(edited.bytes());
    }
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
