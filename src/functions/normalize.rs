//! Identity text to its normal form.

use bloom_ident_core::text;
use pgrx::pg_extern;

use crate::error::OrRaise;
use crate::types::{tick, Text};

#[pg_extern(sql = false)]
fn ident_normalize(text: Text<'_>, filler: bool) -> String {
    text::normalize(text.as_str(), filler, tick).or_raise()
}

#[pg_extern(sql = false)]
fn ident_luhn(number: Text<'_>) -> bool {
    text::luhn(number.as_str())
}
