//! Identity text to its normal form.

use bloom_ident_core::text;

use crate::pg::entry;
use crate::pg::error::OrRaise;
use crate::types::{tick, Text};

#[entry]
fn ident_normalize(text: Text<'_>, filler: bool) -> String {
    text::normalize(text.as_str(), filler, tick).or_raise()
}

#[entry]
fn ident_luhn(number: Text<'_>) -> bool {
    text::luhn(number.as_str())
}
