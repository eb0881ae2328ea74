//! A postal address to its parts.

use pgrx::pg_sys;
use text::contact::address_parts;

use pg::error::OrRaise;
use pg::function::record::record;
use pg::function::rows::text_datum;
use pg::values::text::{to_database, Text};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

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
