//! Names of persons and companies.

use pgrx::pg_sys;
use text::names::{self, name_forms, name_parts};

use pg::error::OrRaise;
use pg::function::record::record;
use pg::function::rows::text_datum;
use pg::values::text::{to_database, Text};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::TextArray;

// A person's name to its parts.

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

// Short and familiar forms of given names.

/// `(name text, version integer) RETURNS text[]`
#[entry]
fn ident_name_forms(name: Text<'_>, version: i32) -> NewValue {
    TextArray::filled(|array| {
        let forms = name_forms(name.as_str(), version.into(), check_for_interrupts)?;
        forms.iter().try_for_each(|form| array.push_text(form))
    })
}

// How similar two names are.

#[entry]
fn ident_name_sim(a: Text<'_>, b: Text<'_>) -> f64 {
    names::similarity(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}
