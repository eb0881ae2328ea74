//! Exact similarity of two texts, symbol by symbol: the second stage behind signatures. All compare normal forms, and are 0 when
//! one of these is empty.

use super::normalize::normalize;
use crate::{Error, ErrorKind, Result};

/// Symbols of a normal form that is compared. Each symbol of one text is held against each of the other, in one go that nothing
/// interrupts; with so many it takes a fraction of a second.
pub const MAX_EDITED: usize = 10_000;

/// Levenshtein: 1 less the insertions, deletions and replacements that make one of the other, per symbol of the longer one.
///
/// Errors: a text of more than [`MAX_EDITED`] symbols; out of memory.
pub fn edit_similarity(a: &str, b: &str, tick: impl FnMut()) -> Result<f64> {
    per_symbol(a, b, tick, |a, b| {
        rapidfuzz::distance::levenshtein::distance(a.iter(), b.iter())
    })
}

/// Damerau and Levenshtein: the same, where two neighbours that have changed places are one edit, and may be edited further.
///
/// Errors: as those of [`edit_similarity`].
pub fn damerau_similarity(a: &str, b: &str, tick: impl FnMut()) -> Result<f64> {
    per_symbol(a, b, tick, |a, b| {
        rapidfuzz::distance::damerau_levenshtein::distance(a.iter(), b.iter())
    })
}

/// Jaro and Winkler: symbols in common that are not far from each other, those out of order counting half, and up to four common
/// symbols at the beginning count more where the rest is above 0.7.
///
/// Errors: as those of [`edit_similarity`].
pub fn jaro_winkler(a: &str, b: &str, tick: impl FnMut()) -> Result<f64> {
    let (a, b) = normal_forms(a, b, tick)?;
    if a.is_empty() || b.is_empty() {
        return Ok(0.0);
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    Ok(rapidfuzz::distance::jaro_winkler::similarity(
        a.iter(),
        b.iter(),
    ))
}

fn per_symbol(
    a: &str,
    b: &str,
    tick: impl FnMut(),
    distance: impl Fn(&[u8], &[u8]) -> usize,
) -> Result<f64> {
    let (a, b) = normal_forms(a, b, tick)?;
    let longer = a.len().max(b.len());
    if a.is_empty() || b.is_empty() {
        return Ok(0.0);
    }
    let same = longer - distance(a.as_bytes(), b.as_bytes());
    Ok(same as f64 / longer as f64)
}

fn normal_forms(a: &str, b: &str, mut tick: impl FnMut()) -> Result<(String, String)> {
    let mut normal = |text| {
        let normal = normalize(text, false, &mut tick)?;
        if normal.len() > MAX_EDITED {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("text of {} symbols is too long to be compared symbol by symbol", normal.len()),
            )
            .detail(format!(
                "A normal form has {MAX_EDITED} symbols at most there, since the work grows with the product of both lengths."
            ))
            .hint("Compare long texts by ident_ngram_sim(), or their beginnings by left()."));
        }
        Ok(normal)
    };
    Ok((normal(a)?, normal(b)?))
}
