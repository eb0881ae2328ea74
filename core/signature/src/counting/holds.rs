//! What a counting filter may hold.

use super::counters;
use super::layout::{check_of_ngrams, CountingView};
use super::positions::Positions;
use base::Result;
use text::ngram::{for_each_ngram, Gaps};
use text::tokens::token_hash;

/// Whether every n-gram of `text` may be in the filter: none of its counters is 0. Empty text is.
///
/// Errors: the filter is one of tokens.
pub fn holds_text(
    view: &CountingView<'_>,
    text: &str,
    gaps: impl Into<Gaps>,
    tick: impl FnMut(),
) -> Result<bool> {
    let shape = view.shape();
    check_of_ngrams(shape)?;
    let positions = Positions::new(shape);
    let counters = view.counters();
    let mut all = true;
    for_each_ngram(
        text,
        shape.ngram(),
        gaps,
        |_, index| all = all && positions.of(index, |at| counters::get(counters, at) > 0),
        tick,
    );
    Ok(all)
}

/// Whether a token may be in the filter: none of its counters is 0.
///
/// Errors: the filter is one of n-grams.
pub fn holds_token(view: &CountingView<'_>, token: &str) -> Result<bool> {
    view.check_of_tokens()?;
    let counters = view.counters();
    let hash = token_hash(token.as_bytes());
    Ok(Positions::new(view.shape()).of(hash, |at| counters::get(counters, at) > 0))
}
