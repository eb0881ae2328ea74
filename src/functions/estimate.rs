//! What the fill of one signature says.

use bloom_ident_core::filter::rates;
use pgrx::pg_extern;

use crate::types::Bloom;

#[pg_extern(sql = false)]
fn bloom_bits(signature: Bloom<'_>) -> i32 {
    signature.view().count() as i32
}

#[pg_extern(sql = false)]
fn bloom_fill(signature: Bloom<'_>) -> f64 {
    signature.view().fill()
}

#[pg_extern(sql = false)]
fn bloom_words(signature: Bloom<'_>) -> f64 {
    let view = signature.view();
    rates::words(view.shape().p().into(), view.fill())
}

#[pg_extern(sql = false)]
fn bloom_fpr(signature: Bloom<'_>) -> f64 {
    let view = signature.view();
    view.fill().powf(view.shape().k().into())
}
