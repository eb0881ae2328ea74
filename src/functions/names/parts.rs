//! A person's name to its parts.

use pgrx::pg_sys;
use text::names::name_parts;

use pg::error::OrRaise;
use pg::function::record::record;
use pg::function::rows::text_datum;
use pg::values::text::{to_database, Text};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

/// `(name text) RETURNS (titles text, given text, particles text, surname text, suffixes text, nickname text, born
/// text)`
#[entry]
fn ident_name(name: Text<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let parts = name_parts(name.as_str(), check_for_interrupts).or_raise();
    let part = |part: Option<String>| part.map(|part| text_datum(&to_database(&part)));
    record(
        fcinfo,
        [
            parts.titles,
            parts.given,
            parts.particles,
            parts.surname,
            parts.suffixes,
            parts.nickname,
            parts.born,
        ]
        .map(part),
    )
}
