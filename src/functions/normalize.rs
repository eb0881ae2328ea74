//! Identity text to its normal form.

use bloom_ident_core::text;

use crate::pg::error::OrRaise;
use crate::pg::values::text::Text;
use crate::pg::{check_for_interrupts, entry};

#[entry]
fn ident_normalize(text: Text<'_>, filler: bool) -> String {
    text::normalize(text.as_str(), filler, check_for_interrupts).or_raise()
}

#[entry]
fn ident_luhn(number: Text<'_>) -> bool {
    text::luhn(number.as_str())
}
