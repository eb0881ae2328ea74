//! Identity text to its normal form.

use pg::error::OrRaise;
use pg::values::text::Text;
use pg::{check_for_interrupts, entry};

#[entry]
fn ident_normalize(text: Text<'_>, filler: bool) -> String {
    text::normalize(text.as_str(), filler, check_for_interrupts).or_raise()
}

#[entry]
fn ident_luhn(number: Text<'_>) -> bool {
    text::luhn(number.as_str())
}
