//! n-grams of text.

use bloom_ident_core::ngram;

use crate::pg::entry;
use crate::pg::error::OrRaise;
use crate::types::{ngram_array, tick, NewValue, Text};

#[entry]
fn ident_ngrams(text: Text<'_>, q: i32, by_word: bool) -> NewValue {
    let q = ngram::check_length(q.into()).or_raise();
    ngram_array(text.as_str(), q, by_word)
}

#[entry]
fn ident_ngram_index(word: Text<'_>) -> i64 {
    // eight symbols stay far below 2^63
    ngram::index(word.as_str()).or_raise() as i64
}

#[entry]
fn ident_ngram_sim(a: Text<'_>, b: Text<'_>, q: i32, by_word: bool) -> f64 {
    let q = ngram::check_length(q.into()).or_raise();
    ngram::similarity(a.as_str(), b.as_str(), q, by_word, tick).or_raise()
}
