//! Similarity and distance of two texts as they are written, character by character: what other programs give by these
//! names, so nothing is normalised, and a character is one of Unicode's code points. An empty text is like no other, and
//! not like an empty one.

use super::edit::{check_length, damerau_distance};
use base::Result;
use std::collections::HashMap;

/// Jaro: characters in common that are not far from each other, those out of order counting half.
///
/// Errors: a text of more than [`MAX_EDITED`](super::MAX_EDITED) characters.
pub fn jaro(a: &str, b: &str) -> Result<f64> {
    of_characters(a, b, |a, b| {
        rapidfuzz::distance::jaro::similarity(a.chars(), b.chars())
    })
}

/// Jaro and Winkler: the same, where up to four common characters at the beginning count more if the rest is above 0.7.
///
/// Errors: as those of [`jaro`].
pub fn jaro_winkler(a: &str, b: &str) -> Result<f64> {
    of_characters(a, b, |a, b| {
        rapidfuzz::distance::jaro_winkler::similarity(a.chars(), b.chars())
    })
}

/// Damerau and Levenshtein: characters inserted, dropped or replaced, or two neighbours that have changed places and may
/// be edited further.
///
/// Errors: as those of [`jaro`].
pub fn damerau_levenshtein(a: &str, b: &str, mut tick: impl FnMut()) -> Result<usize> {
    check(a, b)?;
    if a.is_ascii() && b.is_ascii() {
        return Ok(damerau_distance(a.as_bytes(), b.as_bytes(), 128, &mut tick));
    }
    // Characters by the order in which they come first. There are not more than twice MAX_EDITED.
    let mut numbers = HashMap::new();
    let mut numbered = |text: &str| -> Vec<u16> {
        let number = |c| {
            let next = numbers.len() as u16;
            *numbers.entry(c).or_insert(next)
        };
        text.chars().map(number).collect()
    };
    let (a, b) = (numbered(a), numbered(b));
    Ok(damerau_distance(&a, &b, numbers.len(), &mut tick))
}

fn of_characters(a: &str, b: &str, similarity: impl Fn(&str, &str) -> f64) -> Result<f64> {
    check(a, b)?;
    if a.is_empty() || b.is_empty() {
        return Ok(0.0);
    }
    Ok(similarity(a, b))
}

fn check(a: &str, b: &str) -> Result<()> {
    check_length(a.chars().count(), "characters")?;
    check_length(b.chars().count(), "characters")
}
