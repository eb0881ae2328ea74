//! Telephone numbers, e-mail addresses and postal addresses, and the encodings that go into signatures of identities.

use pgrx::datum::IntoDatum;
use pgrx::pg_sys;
use text::contact::{address_parts, email, email_or_none, phone, phone_or_none};
use text::identity::{for_each_encoding, IdentityKind};

use super::default_shape::planned_shape_of_tokens;
use pg::error::OrRaise;
use pg::function::record::record;
use pg::function::rows::text_datum;
use pg::values::text::{to_database, Text};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::{NewBloom, TextArray};

// Telephone numbers to the digits of E.164.

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

// E-mail addresses to one form, and taken apart.

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

// A postal address to its parts.

/// `(text text) RETURNS (street text, number text, postcode text, city text)`
#[entry]
fn ident_address_parts(text: Text<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let parts = address_parts(text.as_str(), check_for_interrupts).or_raise();
    let part = |part: Option<String>| part.map(|part| text_datum(&to_database(&part)));
    record(
        fcinfo,
        [parts.street, parts.number, parts.postcode, parts.city].map(part),
    )
}

// Signatures of several encodings of one value.

#[entry]
fn bloom_signature_of_identity(
    kind: Text<'_>,
    value: Text<'_>,
    max_tokens: i32,
    fpr: f64,
) -> NewBloom {
    let kind = IdentityKind::of_name(kind.as_str()).or_raise();
    NewBloom::new(planned_shape_of_tokens(max_tokens, fpr), |builder| {
        for_each_encoding(kind, value.as_str(), check_for_interrupts, |token| {
            builder.add_token(token)
        })
    })
}

/// `(kind text, value text) RETURNS text[]`
#[entry]
fn ident_encodings(kind: Text<'_>, value: Text<'_>) -> NewValue {
    let kind = IdentityKind::of_name(kind.as_str()).or_raise();
    TextArray::filled(|tokens| {
        for_each_encoding(kind, value.as_str(), check_for_interrupts, |token| {
            tokens.push_text(token)
        })
    })
}
