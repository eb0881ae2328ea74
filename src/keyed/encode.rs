//! `bloom_clk`: a record becomes a keyed signature.

use std::borrow::Cow;

use base::{Error, ErrorKind, Result};
use clk::{flipped_id, from_base64, to_base64};
use pg::catalog::privileges::current_user;
use pg::entry;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::interrupts::check_for_interrupts;
use pg::message::words;
use pg::values::jsonb::{JsonObject, NoScalar};
use pg::values::text::Text;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_INTERNAL_ERROR;
use signature::filter::{parse_id, Shape, View};
use types::{Bloom, NewBloom};

use super::manage::shown;
use super::ready::{no_member, with_encoder, GivenJson, GivenSchema, ReadyEncoder};
use super::tables::SecretTables;

/// `(record jsonb, schema jsonb, secret name) RETURNS bloom`
///
/// `(record jsonb, schema jsonb, secret name, hardening jsonb) RETURNS bloom`
///
/// Errors: no objects; a linkage schema that is none, or that asks for what is not supported, and so a hardening; no such
/// secret, or one that the caller may not use; a value that its feature may not have.
#[entry(stable, parallel_unsafe)]
fn bloom_clk(fcinfo: pg_sys::FunctionCallInfo) -> Option<NewBloom> {
    // SAFETY: the record of a running call, which is declared with these arguments, and STRICT; they live as long as it.
    let (tables, arguments, record, given) = unsafe {
        let arguments = Arguments::new(fcinfo);
        let record = object(arguments.given(0), "record");
        (
            SecretTables::of_call(fcinfo),
            arguments,
            record,
            given(arguments, [1, 3]),
        )
    };
    with_encoder(&tables, &arguments.name(2), &given.of(), |ready| {
        encoded(ready, &record)
    })
}

/// The signature of a record; `None` if it has no value for the salt.
pub fn encoded(ready: &mut ReadyEncoder, record: &JsonObject<'_>) -> Option<NewBloom> {
    if !ready.salt.is_empty() {
        let values = ready.salt.iter().map(|name| member(record, name));
        let values = values.collect::<Result<Vec<_>>>().or_raise();
        if !ready.encoder.set_salt(&values).or_raise() {
            return None;
        }
    }
    let names = &ready.names;
    Some(NewBloom::new(ready.shape, |builder| {
        let value = |n: usize| member(record, &names[n]);
        let bits = builder.bits();
        ready.encoder.encode(value, bits, check_for_interrupts)
    }))
}

/// `(schema jsonb, secret name) RETURNS text`
///
/// `(schema jsonb, secret name, hardening jsonb) RETURNS text`
///
/// Errors: as [`bloom_clk`].
#[entry(stable, parallel_unsafe)]
fn bloom_clk_id(fcinfo: pg_sys::FunctionCallInfo) -> String {
    // SAFETY: the record of a running call, which is declared with these arguments, and STRICT; they live as long as it.
    let (tables, arguments, given) = unsafe {
        let arguments = Arguments::new(fcinfo);
        (
            SecretTables::of_call(fcinfo),
            arguments,
            given(arguments, [0, 2]),
        )
    };
    with_encoder(&tables, &arguments.name(1), &given.of(), |ready| {
        shown(ready.encoder.id())
    })
}

/// A linkage schema, and a hardening.
pub struct Objects<'a> {
    pub schema: JsonObject<'a>,
    pub hardening: Option<JsonObject<'a>>,
}

impl Objects<'_> {
    /// Of the current user.
    pub fn of(&self) -> GivenSchema<'_> {
        GivenSchema {
            schema: GivenJson::Object(&self.schema),
            hardening: self.hardening.as_ref().map(GivenJson::Object),
            user: current_user(),
        }
    }
}

/// Those that are arguments of these numbers; the hardening may be none.
///
/// # Safety
/// The arguments are of type jsonb, not NULL, and live as long as the result.
pub unsafe fn given<'a>(arguments: Arguments, [schema, hardening]: [usize; 2]) -> Objects<'a> {
    // SAFETY: the caller's.
    unsafe {
        Objects {
            schema: object(arguments.given(schema), "linkage schema"),
            hardening: (arguments.number() > hardening)
                .then(|| object(arguments.given(hardening), "hardening")),
        }
    }
}

/// The id of a keyed signature; NULL for one that is not keyed.
#[entry]
fn bloom_id(value: Bloom<'_>) -> Option<String> {
    let shape = value.view().shape();
    shape.is_keyed().then(|| shown(shape.id()))
}

/// Flips each bit with a probability, by chance, so that nobody can tell whether a bit was set (S. Alaggan, S. Gambs, A.-M.
/// Kermarrec: BLIP: Non-interactive Differentially-Private Similarity Computation on Bloom Filters, SSS 2012). The result has
/// another id, which says by what probability.
///
/// Errors: a signature that is not keyed; a probability that is not above 0 and at most ½.
#[entry(volatile)]
fn bloom_clk_flip(value: Bloom<'_>, probability: f64) -> NewBloom {
    flip(&value.view(), probability).or_raise()
}

fn flip(value: &View<'_>, probability: f64) -> Result<NewBloom> {
    let shape = value.shape();
    if !(probability > 0.0 && probability <= 0.5) {
        return Err(
            Error::invalid(format!("probability = {probability} is out of range"))
                .detail("It is above 0 and at most 0.5, at which nothing is left."),
        );
    }
    if !shape.is_keyed() {
        return Err(
            Error::data_exception(format!("signature of shape {shape} is not keyed"))
                .detail("Who knows how bits are set finds out which were flipped."),
        );
    }
    let flipped = shape.with_other_id(flipped_id(shape.id(), probability))?;
    let mut random = vec![0_u8; 4 * shape.m() as usize];
    // SAFETY: the server writes so many bytes.
    if !unsafe { pg_sys::pg_strong_random(random.as_mut_ptr().cast(), random.len()) } {
        raise(&sql_error(
            ERRCODE_INTERNAL_ERROR,
            "could not generate random bytes",
        ));
    }
    let least = (probability * 2_f64.powi(32)) as u64;
    NewBloom::try_new(flipped, |builder| {
        let bits = builder.bits();
        bits.copy_from_slice(value.bits());
        let (numbers, _) = random.as_chunks();
        for (at, number) in numbers.iter().enumerate() {
            if u64::from(u32::from_ne_bytes(*number)) < least {
                bits[at / 8] ^= 1 << (at % 8);
            }
        }
        Ok(())
    })
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
