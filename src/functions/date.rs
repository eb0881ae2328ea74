//! Dates to `YYYYMMDD`, times to `HHMMSS`, and signatures of dates.

use base::{Error, ErrorKind, Result};
use pgrx::datum::{Date, IntoDatum};
use pgrx::pg_sys;
use signature::filter::date_shape;
use text::{self, DateFormats, TimeFormats};

use pg::error::OrRaise;
use pg::function::record::record;
use pg::function::rows::text_datum;
use pg::values::text::{in_message, Text};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::{NewBloom, Tokens};

/// The digits of a `date` of the years 1 to 9999. Of infinity and other years there are none.
fn digits_of(date: Date) -> Result<String> {
    if date.is_infinity() || date.is_neg_infinity() {
        return Err(Error::new(
            ErrorKind::DatetimeOverflow,
            "cannot convert infinity to an identity date",
        ));
    }
    text::date_digits(date.year(), date.month().into(), date.day().into())
}

/// Of a `date`: immutable, unlike its text form.
#[entry]
fn ident_date_of_date(date: Date) -> String {
    digits_of(date).or_raise()
}

#[entry]
fn ident_date_or_null_of_date(date: Date) -> Option<String> {
    digits_of(date).ok()
}

#[entry]
fn ident_date_text_of_date(date: Date) -> String {
    digits_of(date).unwrap_or_default()
}

/// Takes the formats behind the first one, those of a `text[]`, of which NULLs are skipped.
///
/// # Safety
/// Argument 2 is a `text[]`, and not NULL.
unsafe fn more_formats(fcinfo: pg_sys::FunctionCallInfo, mut push: impl FnMut(&str) -> Result<()>) {
    // SAFETY: argument 2 is such an array.
    let more = unsafe { Tokens::argument(fcinfo, 2) }.or_raise();
    more.all(|format| push(format).map(|()| true)).or_raise();
}

/// # Safety
/// As above.
unsafe fn formats(first: &Text<'_>, fcinfo: pg_sys::FunctionCallInfo) -> DateFormats {
    let mut formats = format(first);
    // SAFETY: the caller's.
    unsafe { more_formats(fcinfo, |format| formats.push(format)) };
    formats
}

/// The only format of a call.
fn format(format: &Text<'_>) -> DateFormats {
    DateFormats::new(format.as_str()).or_raise()
}

#[entry]
fn ident_date_of_text(date: Text<'_>, format: Text<'_>) -> String {
    text::parse_date(date.as_str(), format.as_str()).or_raise()
}

/// `(date text, format text, VARIADIC more text[]) RETURNS text`
#[entry]
fn ident_date_of_formats(
    date: Text<'_>,
    first: Text<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> String {
    // SAFETY: declared as this, and STRICT.
    let formats = unsafe { formats(&first, fcinfo) };
    formats.date(date.as_str(), check_for_interrupts).or_raise()
}

#[entry]
fn ident_date_or_null_of_text(date: Text<'_>, only: Text<'_>) -> Option<String> {
    format(&only).date_if_any(date.as_str(), check_for_interrupts)
}

/// `(date text, format text, VARIADIC more text[]) RETURNS text`
#[entry]
fn ident_date_or_null_of_formats(
    date: Text<'_>,
    first: Text<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<String> {
    // SAFETY: declared as this, and STRICT.
    let formats = unsafe { formats(&first, fcinfo) };
    formats.date_if_any(date.as_str(), check_for_interrupts)
}

#[entry]
fn ident_date_text_of_text(date: Text<'_>, only: Text<'_>) -> String {
    format(&only).date_digits(date.as_str(), check_for_interrupts)
}

/// `(date text, format text, VARIADIC more text[]) RETURNS text`
#[entry]
fn ident_date_text_of_formats(
    date: Text<'_>,
    first: Text<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> String {
    // SAFETY: declared as this, and STRICT.
    let formats = unsafe { formats(&first, fcinfo) };
    formats.date_digits(date.as_str(), check_for_interrupts)
}

/// `(date text, format text) RETURNS (plausible boolean, part text, detail text, suggestion text)`
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
            p.detail.map(|d| text_datum(&in_message(&d))),
            p.suggestion.into_datum(),
        ],
    )
}

/// # Safety
/// As above.
unsafe fn time_formats(first: &Text<'_>, fcinfo: pg_sys::FunctionCallInfo) -> TimeFormats {
    let mut formats = TimeFormats::new(first.as_str()).or_raise();
    // SAFETY: the caller's.
    unsafe { more_formats(fcinfo, |format| formats.push(format)) };
    formats
}

/// A `time`, in microseconds: pgrx's own type would make 0:00 of 24:00, which is a `time` and no time of day.
type TimeOfDay = i64;

/// The digits of a `time`.
fn digits_of_time(time: TimeOfDay) -> Result<String> {
    let second = (time / 1_000_000) as u32;
    text::time_digits(second / 3600, second / 60 % 60, second % 60)
}

#[entry]
fn ident_time_of_time(time: TimeOfDay) -> String {
    digits_of_time(time).or_raise()
}

#[entry]
fn ident_time_or_null_of_time(time: TimeOfDay) -> Option<String> {
    digits_of_time(time).ok()
}

#[entry]
fn ident_time(time: Text<'_>, format: Text<'_>) -> String {
    let format = TimeFormats::new(format.as_str()).or_raise();
    format.time(time.as_str(), check_for_interrupts).or_raise()
}

/// `(text text, format text, VARIADIC more text[]) RETURNS text`
#[entry]
fn ident_time_of_formats(
    time: Text<'_>,
    first: Text<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> String {
    // SAFETY: declared as this, and STRICT.
    let formats = unsafe { time_formats(&first, fcinfo) };
    formats.time(time.as_str(), check_for_interrupts).or_raise()
}

#[entry]
fn ident_time_or_null(time: Text<'_>, format: Text<'_>) -> Option<String> {
    let format = TimeFormats::new(format.as_str()).or_raise();
    format.time_if_any(time.as_str(), check_for_interrupts)
}

/// `(text text, format text, VARIADIC more text[]) RETURNS text`
#[entry]
fn ident_time_or_null_of_formats(
    time: Text<'_>,
    first: Text<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<String> {
    // SAFETY: declared as this, and STRICT.
    let formats = unsafe { time_formats(&first, fcinfo) };
    formats.time_if_any(time.as_str(), check_for_interrupts)
}

#[entry]
fn bloom_signature_of_date(date: Text<'_>) -> NewBloom {
    NewBloom::new(date_shape(), |builder| {
        builder.add_date(date.as_str(), check_for_interrupts)
    })
}
