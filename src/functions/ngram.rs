//! n-grams of text.

use text::ngram::{check_length, index, similarity, Gaps};

use pg::error::OrRaise;
use pg::values::text::Text;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::ngram_array;

/// `(text text, ngram integer, by_word boolean, filler boolean) RETURNS text[]`
#[entry]
fn ident_ngrams(text: Text<'_>, ngram: i32, by_word: bool, filler: bool) -> NewValue {
    let length = check_length(ngram.into()).or_raise();
    let gaps = Gaps::of(by_word, filler).or_raise();
    ngram_array(text.as_str(), length, gaps)
}

#[entry]
fn ident_ngram_index(ngram: Text<'_>) -> i64 {
    // eight symbols stay far below 2^63
    index(ngram.as_str()).or_raise() as i64
}

#[entry]
fn ident_ngram_sim(a: Text<'_>, b: Text<'_>, ngram: i32, by_word: bool, filler: bool) -> f64 {
    let length = check_length(ngram.into()).or_raise();
    let gaps = Gaps::of(by_word, filler).or_raise();
    similarity(a.as_str(), b.as_str(), length, gaps, check_for_interrupts).or_raise()
}
