//! Abbreviations written out.

use bloom_ident_core::text;

use crate::pg::error::OrRaise;
use crate::pg::values::text::Text;
use crate::pg::{check_for_interrupts, entry};

#[entry]
fn ident_expand(text: Text<'_>, language: Text<'_>, version: i32) -> String {
    text::expand(
        text.as_str(),
        language.as_str(),
        version.into(),
        check_for_interrupts,
    )
    .or_raise()
}
