//! Abbreviations written out.

use pg::error::OrRaise;
use pg::values::text::Text;
use pg::{check_for_interrupts, entry};

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
