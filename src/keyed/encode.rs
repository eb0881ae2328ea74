//! `bloom_clk`: a record becomes a keyed signature.

use std::borrow::Cow;

use base::{Error, ErrorKind, Result};
use clk::{from_base64, to_base64};
use pg::entry;
use pg::error::{raise, OrRaise};
use pg::function::arguments::Arguments;
use pg::message::words;
use pg::values::jsonb::{json_text, JsonObject, NoScalar};
use pg::values::text::Text;
use pgrx::pg_sys;
use signature::filter::{parse_id, Shape};
use types::{Bloom, NewBloom};

use super::manage::shown;
use super::ready::{no_member, with_encoder};
use super::tables::SecretTables;

/// `(record jsonb, schema jsonb, secret name) RETURNS bloom`
///
/// Errors: no objects; a linkage schema that is none, or that asks for what is not supported; no such secret, or one that
/// the caller may not use; a value that its feature may not have.
#[entry(stable, parallel_restricted)]
fn bloom_clk(fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    // SAFETY: the record of a running call, which is declared with these arguments, and STRICT; they live as long as it.
    let (tables, arguments, record, schema) = unsafe {
        let arguments = Arguments::new(fcinfo);
        (
            SecretTables::of_call(fcinfo),
            arguments,
            object(arguments.given(0), "record"),
            object(arguments.given(1), "linkage schema"),
        )
    };
    // SAFETY: as above.
    let json = || unsafe { json_text(arguments.given(1)) };
    let name = arguments.name(2);
    with_encoder(&tables, &name, schema.bytes(), &json, |ready| {
        NewBloom::new(ready.shape, |builder| {
            let names = &ready.names;
            let value = |n: usize| member(&record, &names[n]);
            ready.encoder.encode(value, builder.bits())
        })
    })
}

/// `(schema jsonb, secret name) RETURNS text`
///
/// Errors: as [`bloom_clk`].
#[entry(stable, parallel_restricted)]
fn bloom_clk_id(fcinfo: pg_sys::FunctionCallInfo) -> String {
    // SAFETY: the record of a running call, which is declared with these arguments, and STRICT; they live as long as it.
    let (tables, arguments, schema) = unsafe {
        let arguments = Arguments::new(fcinfo);
        let schema = object(arguments.given(0), "linkage schema");
        (SecretTables::of_call(fcinfo), arguments, schema)
    };
    // SAFETY: as above.
    let json = || unsafe { json_text(arguments.given(0)) };
    let name = arguments.name(1);
    with_encoder(&tables, &name, schema.bytes(), &json, |ready| {
        shown(ready.encoder.id())
    })
}

/// The id of a keyed signature; NULL for one that is not keyed.
#[entry]
fn bloom_id(value: Bloom<'_>) -> Option<String> {
    let shape = value.view().shape();
    shape.is_keyed().then(|| shown(shape.id()))
}

/// The bits in base64, as clkhash and anonlink write them: bit 0 is the first of a byte.
#[entry]
fn bloom_clk_base64(value: Bloom<'_>) -> String {
    to_base64(value.view().bits())
}

/// `(text text, id text, bits integer) RETURNS bloom`
///
/// Errors: no base64; no id; a number of bits that does not fit the bytes, or bits beyond it.
#[entry(called_on_null)]
fn bloom_clk_from_base64(fcinfo: pg_sys::FunctionCallInfo) -> Option<NewBloom> {
    // SAFETY: the record of a running call, which is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (text, id) = (arguments.datum(0)?, arguments.datum(1)?);
    // SAFETY: texts that live as long as the call.
    let (text, id) = unsafe { (Text::from_raw(text), Text::from_raw(id)) };
    let wanted = arguments
        .datum(2)
        .map(|bits| i64::from(bits.value() as i32));
    Some(read(text.as_str(), id.as_str(), wanted).or_raise())
}

fn read(text: &str, id: &str, wanted: Option<i64>) -> Result<NewBloom> {
    let bits = from_base64(text)?;
    let length = wanted.unwrap_or(8 * bits.len() as i64);
    let shape = Shape::of_records(length, parse_id(id)?)?;
    let unfit = |detail: String| {
        let bytes = bits.len();
        Err(Error::new(
            ErrorKind::InvalidText,
            format!("base64 form of {bytes} bytes does not have {length} bits"),
        )
        .detail(detail))
    };
    if shape.bytes() != bits.len() {
        return unfit(format!("So many bits have {} bytes.", shape.bytes()));
    }
    let used = length % 8;
    if used != 0 && bits.last().is_some_and(|last| last >> used != 0) {
        return unfit("Bits behind the last one are set.".to_owned());
    }
    NewBloom::try_new(shape, |builder| {
        builder.bits().copy_from_slice(&bits);
        Ok(())
    })
}

/// # Safety
/// `value` is a jsonb that is not NULL, and lives as long as the result.
unsafe fn object<'a>(value: pg_sys::Datum, what: &str) -> JsonObject<'a> {
    // SAFETY: the caller's.
    unsafe { JsonObject::new(value) }
        .unwrap_or_else(|| raise(&Error::invalid(format!("{what} is no JSON object"))))
}

/// The text of a member of a record; an empty one for `null`.
///
/// Errors: there is none, or it is an array or an object.
fn member<'r>(record: &'r JsonObject<'_>, name: &[u8]) -> Result<Cow<'r, str>> {
    match record.value_of(name) {
        Ok(Some(value)) => Ok(value.unwrap_or_default()),
        Ok(None) => no_member(name),
        Err(NoScalar) => Err(Error::data_exception(words!(
            "member \"{name}\" of the record is no text"
        ))),
    }
}
