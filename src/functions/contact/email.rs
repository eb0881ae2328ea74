//! E-mail addresses to one form, and taken apart.

use pgrx::datum::IntoDatum;
use pgrx::pg_sys;
use text::contact::{email, email_or_none};

use pg::entry;
use pg::error::OrRaise;
use pg::function::record::record;
use pg::function::rows::text_datum;
use pg::values::text::{to_database, Text};
use pg::values::varlena::NewValue;

/// What stands before the `@` may be in any script.
fn datum(text: &str) -> pg_sys::Datum {
    text_datum(&to_database(text))
}

/// `(text text) RETURNS text`
#[entry]
fn ident_email(text: Text<'_>) -> NewValue {
    NewValue(datum(&email(text.as_str()).or_raise().text()))
}

/// `(text text) RETURNS text`
#[entry]
fn ident_email_or_null(text: Text<'_>) -> Option<NewValue> {
    email_or_none(text.as_str()).map(|email| NewValue(datum(&email.text())))
}

/// `(text text) RETURNS (local text, tag text, letters text, digits text, pattern text, domain text, registrable text,
/// free_provider boolean)`
#[entry]
fn ident_email_parts(text: Text<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let email = email(text.as_str()).or_raise();
    let parts = email.parts();
    record(
        fcinfo,
        [
            Some(datum(&email.local)),
            email.tag.map(|tag| datum(&tag)),
            Some(datum(&parts.letters)),
            Some(datum(&parts.digits)),
            Some(datum(&parts.pattern)),
            email.domain.into_datum(),
            parts.registrable.into_datum(),
            parts.free.into_datum(),
        ],
    )
}
