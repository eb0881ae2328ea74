//! What the fill of one signature says.

use signature::filter::rates;

use pg::entry;
use types::Bloom;

#[entry]
fn bloom_bits(signature: Bloom<'_>) -> i32 {
    signature.view().popcount() as i32
}

#[entry]
fn bloom_fill(signature: Bloom<'_>) -> f64 {
    signature.view().fill()
}

#[entry]
fn bloom_ngram_count(signature: Bloom<'_>) -> f64 {
    let view = signature.view();
    rates::ngrams(view.shape().p().into(), view.fill())
}

#[entry]
fn bloom_fpr(signature: Bloom<'_>) -> f64 {
    let view = signature.view();
    view.fill().powf(view.shape().k().into())
}
