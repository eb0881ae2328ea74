//! A signature and the similarity that it is searched with.
//!
//! Bytes: those of the signature, then the threshold as a little-endian float8.

use std::fmt::Write;

use super::{parse_text, write_text, View};
use crate::range::unit;
use crate::{Error, ErrorKind, Result};

/// Bytes of the threshold.
pub const THRESHOLD: usize = size_of::<f64>();

/// A threshold that no similarity reaches.
pub const NEVER: f64 = 2.0;

/// A query's bytes, checked.
#[derive(Clone, Copy, Debug)]
pub struct QueryView<'a> {
    pub signature: View<'a>,
    /// In [0,1], or [`NEVER`] in queries that a comparison was rewritten to.
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
    /// Errors: a malformed signature, a threshold outside [0,1] and not [`NEVER`].
    pub fn untrusted(bytes: &'a [u8]) -> Result<QueryView<'a>> {
        let Some((signature, threshold)) = bytes.split_last_chunk::<THRESHOLD>() else {
            return Err(Error::new(
                ErrorKind::InvalidBinary,
                format!("query of {} bytes is too short", bytes.len()),
            ));
        };
        let threshold = f64::from_le_bytes(*threshold);
        check_threshold(threshold).map_err(|e| e.of_kind(ErrorKind::InvalidBinary))?;
        Ok(QueryView {
            signature: View::untrusted(signature)?,
            threshold,
        })
    }
}

/// The threshold of a query whose hits are the rows with a similarity of at least `least`; any
/// number will do, as in an ordinary comparison.
pub fn at_least(least: f64) -> f64 {
    if least <= 1.0 {
        least.max(0.0)
    } else {
        NEVER
    }
}

/// The same for a similarity above `limit`.
pub fn above(limit: f64) -> f64 {
    if limit.is_nan() {
        NEVER
    } else {
        at_least(if limit < 0.0 { 0.0 } else { limit.next_up() })
    }
}

/// A threshold of Jaccard similarity that whoever reaches `dice` reaches, too: d/(2−d), and a few
/// units in the last place less for what rounding can take. Rows have to be checked again.
pub fn jaccard_of_dice(dice: f64) -> f64 {
    const SLACK: f64 = 8.0 * f64::EPSILON;
    if dice > 1.0 || dice.is_nan() {
        // Dice is 1 at most, and rounded to nothing above it
        return NEVER;
    }
    if dice <= 0.0 {
        return 0.0;
    }
    let jaccard = dice / (2.0 - dice);
    at_least(jaccard - SLACK)
}

/// What a stored query can have: [`NEVER`], too, since such queries are dumped and restored.
fn check_threshold(threshold: f64) -> Result<()> {
    if threshold == NEVER {
        return Ok(());
    }
    unit("threshold", threshold)
}

/// Appends the text form: the threshold, a blank, and the signature.
pub fn write_query_text(query: &QueryView<'_>, out: &mut String) {
    let _ = write!(out, "{} ", query.threshold);
    write_text(&query.signature, out);
}

/// Reads the text form into `out`, which is emptied first.
///
/// Errors: malformed text, a threshold outside [0,1] and not [`NEVER`]; out of memory.
pub fn parse_query_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let bad = || {
        Error::new(
            ErrorKind::InvalidText,
            format!(
                "invalid input syntax for type bloom_query: \"{}\"",
                text.chars().take(60).collect::<String>()
            ),
        )
        .detail(
            "A query is written as its threshold and its signature, for example 0.8 (2,5,3):1f03.",
        )
    };
    let text = text.trim();
    let (threshold, signature) = text.split_once(' ').ok_or_else(bad)?;
    let threshold: f64 = threshold.parse().map_err(|_| bad())?;
    check_threshold(threshold)?;
    parse_text(signature, out)?;
    out.try_reserve(THRESHOLD)
        .map_err(|_| Error::out_of_memory(THRESHOLD))?;
    out.extend_from_slice(&threshold.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::Popcounts;

    /// Every similarity of signatures of up to 40 bits, against every threshold nearby.
    #[test]
    fn thresholds_ask_what_the_comparison_asks() {
        let mut limits: Vec<f64> = vec![
            -1.0,
            -0.0,
            0.0,
            1.0,
            2.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for (n, d) in (1..40).flat_map(|d| (0..=d).map(move |n| (n, d))) {
            let t = f64::from(n) / f64::from(d);
            limits.extend([t, t.next_up(), t.next_down()]);
        }
        for a in 0..40 {
            for b in 0..40 {
                for common in 0..=a.min(b) {
                    let counts = Popcounts { a, b, common };
                    let (sim, dice) = (counts.jaccard(), counts.dice());
                    for &limit in &limits {
                        assert_eq!(sim > limit, sim >= above(limit), "{sim} > {limit}");
                        assert_eq!(sim >= limit, sim >= at_least(limit), "{sim} >= {limit}");
                        if dice >= limit {
                            assert!(sim >= jaccard_of_dice(limit), "{dice} >= {limit}");
                        }
                    }
                }
            }
        }
    }
}
