//! A postal address to its parts.

use bloom_ident_core::contact::address_parts;
use pgrx::pg_sys;

use crate::pg::error::OrRaise;
use crate::pg::function::record::record;
use crate::pg::function::rows::text_datum;
use crate::pg::values::text::{to_database, Text};
use crate::pg::values::varlena::NewValue;
use crate::pg::{check_for_interrupts, entry};

/// `(street text, number text, postcode text, city text)`
#[entry]
fn ident_address_parts(text: Text<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let parts = address_parts(text.as_str(), check_for_interrupts).or_raise();
    let part = |part: Option<String>| part.map(|part| text_datum(&to_database(&part)));
    record(
        fcinfo,
        [parts.street, parts.number, parts.postcode, parts.city].map(part),
    )
}
