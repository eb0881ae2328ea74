//! Telephone numbers to the digits of E.164.

use text::contact::{phone, phone_or_none};

use pg::entry;
use pg::error::OrRaise;
use pg::values::text::Text;

#[entry]
fn ident_phone(text: Text<'_>, region: Text<'_>) -> String {
    phone(text.as_str(), region.as_str()).or_raise().digits
}

#[entry]
fn ident_phone_or_null(text: Text<'_>, region: Text<'_>) -> Option<String> {
    phone_or_none(text.as_str(), region.as_str()).map(|phone| phone.digits)
}

/// NULL for a number without, and for what is no number.
#[entry]
fn ident_phone_extension(text: Text<'_>, region: Text<'_>) -> Option<String> {
    phone_or_none(text.as_str(), region.as_str()).and_then(|phone| phone.extension)
}
