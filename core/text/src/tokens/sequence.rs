//! A multiset as a set: each token with the number of its occurrence.

use std::collections::HashMap;

use base::{Error, Result, Ticker};

/// Calls `each` with every token and how often it has occurred so far, itself included. Of two lists the Jaccard
/// similarity of these pairs is that of the lists as multisets: the sum of the lesser counts by the sum of the greater
/// ones. `turn` is called now and then.
///
/// Errors: those of `each`; out of memory.
pub fn for_each_numbered<'a>(
    tokens: impl Iterator<Item = &'a [u8]>,
    turn: impl FnMut(),
    mut each: impl FnMut(&'a [u8], u32) -> Result<()>,
) -> Result<()> {
    let ticker = &mut Ticker::new(turn);
    let mut counts: HashMap<&[u8], u32> = HashMap::new();
    for token in tokens {
        ticker.step();
        counts
            .try_reserve(1)
            .map_err(|_| Error::out_of_memory(counts.len() * size_of::<(&[u8], u32)>()))?;
        let count = counts.entry(token).or_default();
        *count += 1;
        each(token, *count)?;
    }
    Ok(())
}

// Tokens of a list of words or steps: several that follow each other as one, and each with its number.

/// How many words or steps a run has, checked; `least` says in a sentence that it has one.
///
/// Errors: less than 1.
pub fn check_width(least: &str, width: i64) -> Result<usize> {
    usize::try_from(width)
        .ok()
        .filter(|width| *width > 0)
        .ok_or_else(|| Error::invalid(format!("w = {width} is out of range")).detail(least))
}

/// Calls `each` with every run of `width` words that follow each other. A list of fewer is one run, and an empty list
/// has none. `turn` is called now and then.
///
/// Errors: those of `each`.
pub fn for_each_run<W>(
    words: &[W],
    width: usize,
    turn: impl FnMut(),
    mut each: impl FnMut(&[W]) -> Result<()>,
) -> Result<()> {
    let ticker = &mut Ticker::new(turn);
    if words.is_empty() {
        return Ok(());
    }
    words.windows(width.min(words.len())).try_for_each(|run| {
        ticker.step();
        each(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_are_numbered() {
        let mut seen = vec![];
        let tokens: [&[u8]; 4] = [b"milk", b"bread", b"milk", b"milk"];
        for_each_numbered(
            tokens.into_iter(),
            || (),
            |token, n| {
                seen.push((String::from_utf8_lossy(token).into_owned(), n));
                Ok(())
            },
        )
        .unwrap();
        let expected = [("milk", 1), ("bread", 1), ("milk", 2), ("milk", 3)];
        assert_eq!(seen, expected.map(|(token, n)| (token.to_owned(), n)));
    }
}
