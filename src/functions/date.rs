//! Dates to `YYYYMMDD`.

use bloom_ident_core::{text, Error, ErrorKind};
use pgrx::datum::{Date, IntoDatum};
use pgrx::pg_sys;

use crate::pg::entry;
use crate::pg::error::{shown, OrRaise};
use crate::pg::function::record::record;
use crate::pg::values::text::Text;
use crate::pg::values::varlena::NewValue;

/// Of a `date`: immutable, unlike its text form.
#[entry]
fn ident_date_of_date(date: Date) -> String {
    if date.is_infinity() || date.is_neg_infinity() {
        Err(Error::new(
            ErrorKind::DatetimeOverflow,
            "cannot convert infinity to an identity date",
        ))
        .or_raise()
    }
    text::date_digits(date.year(), date.month().into(), date.day().into()).or_raise()
}

#[entry]
fn ident_date_of_text(date: Text<'_>, format: Text<'_>) -> String {
    text::parse_date(date.as_str(), format.as_str()).or_raise()
}

/// `(plausible boolean, part text, detail text, suggestion text)`
#[entry]
fn ident_date_plausibility(
    date: Text<'_>,
    format: Text<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewValue {
    let p = text::plausibility(date.as_str(), format.as_str()).or_raise();
    record(
        fcinfo,
        [
            p.plausible.into_datum(),
            p.part.into_datum(),
            p.detail.map(|d| shown(&d)).into_datum(),
            p.suggestion.into_datum(),
        ],
    )
}
