//! Tokens of a list of words or steps: several that follow each other as one, and each with its number.

use base::Ticker;
use base::{Error, Result};

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
