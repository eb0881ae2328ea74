//! Casts between `bloom` and `bit varying`, `bytea` and `jsonb`.

use std::ffi::CStr;

use base::{Error, ErrorKind, Result};
use bitvec::order::Msb0;
use bitvec::view::BitView;
use pgrx::{pg_sys, JsonB};
use serde::{Deserialize, Deserializer, Serialize};
use signature::filter::{typmod, Shape};

use super::bloom::{Bloom, NewBloom};
use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::{build, NewValue, Varlena};

/// Bytes of a `bit varying` in front of its bits: the number of bits.
const LENGTH: usize = size_of::<i32>();

/// `(bloom) RETURNS bit varying`
///
/// Bit i of the signature is bit i of the bit string, counted from the left.
#[entry]
fn bloom_to_varbit(value: Bloom<'_>) -> NewValue {
    let view = value.view();
    let bits = view.bits();
    let varbit = build(LENGTH + bits.len(), |to| {
        to[..LENGTH].copy_from_slice(&(view.shape().m() as i32).to_ne_bytes());
        // a byte at a time, where bitvec would go bit by bit
        for (to, from) in to[LENGTH..].iter_mut().zip(bits) {
            *to = from.reverse_bits();
        }
        Ok(())
    });
    NewValue(pg_sys::Datum::from(varbit.or_raise()))
}

/// `(bit varying, integer, boolean) RETURNS bloom`
/// `(bit, integer, boolean) RETURNS bloom`
///
/// The shape comes from the type modifier: `B'…'::bloom(k,p,q)`.
#[entry]
fn varbit_to_bloom(fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    // SAFETY: declared as (bit varying, integer, boolean), and STRICT.
    let (value, typmod) = unsafe {
        let args = (*fcinfo).args.as_slice(3);
        (Varlena::of(args[0].value), args[1].value.value() as i32)
    };
    let bytes = value.bytes();
    let (length, bits) = bytes.split_at(LENGTH);
    let length = i32::from_ne_bytes(length.try_into().expect("four bytes"));
    let convert = || -> Result<NewBloom> {
        let Some(shape) = typmod::unpack(typmod)? else {
            return Err(Error::new(
                ErrorKind::InvalidParameter,
                "cannot cast a bit string to bloom without a shape",
            )
            .hint("Name the shape in the cast: bloom(k,p,q)."));
        };
        if i64::from(length) != i64::from(shape.m()) {
            return Err(Error::new(
                ErrorKind::DataException,
                format!("bit string of {length} bits does not fit shape {shape}"),
            )
            .detail(format!("The shape has {} bits.", shape.m())));
        }
        NewBloom::try_new(shape, |builder| {
            let mut set = bits.view_bits::<Msb0>()[..shape.m() as usize].iter_ones();
            set.try_for_each(|at| builder.add_position(at as u32))
        })
    };
    convert().or_raise()
}

/// The stored bytes, checked as those of a binary value.
#[entry]
fn bytea_to_bloom(bytes: &[u8]) -> NewBloom {
    NewBloom::from_untrusted(bytes).or_raise()
}

/// A signature as JSON: its shape, and the positions of its set bits in ascending order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BloomJson {
    k: i64,
    p: i64,
    q: i64,
    #[serde(default = "one")]
    rules: i64,
    #[serde(default, deserialize_with = "given")]
    hash: Option<i64>,
    #[serde(default)]
    key: i64,
    bits: Vec<u32>,
}

/// Rule set of a JSON form that names none: the first, for ever.
fn one() -> i64 {
    1
}

/// A number, where one is given at all.
fn given<'de, D: Deserializer<'de>>(of: D) -> std::result::Result<Option<i64>, D::Error> {
    i64::deserialize(of).map(Some)
}

#[entry]
fn bloom_to_jsonb(value: Bloom<'_>) -> JsonB {
    let view = value.view();
    let shape = view.shape();
    let json = BloomJson {
        k: shape.k().into(),
        p: shape.p().into(),
        q: shape.ngram().into(),
        rules: shape.rules().into(),
        hash: Some(shape.family().into()),
        key: shape.key().into(),
        bits: view.positions().collect(),
    };
    JsonB(serde_json::to_value(json).expect("numbers only"))
}

/// The largest shape has some half a million positions; what is much longer is no signature, and
/// its parsed form would take many times its size in memory.
const LONGEST_JSON: usize = 32 << 20;

/// `(jsonb) RETURNS bloom`
#[entry]
fn jsonb_to_bloom(fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    // SAFETY: declared as (jsonb), and STRICT.
    let datum = unsafe { (*fcinfo).args.as_slice(1)[0].value };
    // SAFETY: a jsonb is a varlena; this looks at its header only.
    let size = unsafe { pg_sys::toast_raw_datum_size(datum) };
    if size > LONGEST_JSON {
        Err(Error::new(
            ErrorKind::InvalidText,
            format!("JSON form of bloom is too long: {size} bytes"),
        )
        .detail(format!("It has {LONGEST_JSON} bytes at most.")))
        .or_raise()
    }
    let convert = || -> Result<NewBloom> {
        let bad = |what: &dyn std::fmt::Display| {
            Error::new(
                ErrorKind::InvalidText,
                format!("invalid JSON form of bloom: {what}"),
            )
            .hint("Write {\"k\": 2, \"p\": 5, \"q\": 3, \"bits\": [0, 7]}.")
        };
        // SAFETY: that argument; the text form is a new C string.
        let text = unsafe {
            let text = pgrx::direct_function_call_as_datum(pg_sys::jsonb_out, &[Some(datum)]);
            CStr::from_ptr(text.expect("not null").cast_mut_ptr())
        };
        // serde would read an array as the fields in order
        let text = text.to_bytes();
        if text.first() != Some(&b'{') {
            return Err(bad(&"not an object"));
        }
        let json: BloomJson = serde_json::from_slice(text).map_err(|e| bad(&e))?;
        let shape = Shape::new(json.k, json.p, json.q)?.with_variant(
            json.rules,
            json.hash.unwrap_or(Shape::family_of(json.q)),
            json.key,
        )?;
        NewBloom::try_new(shape, |builder| {
            json.bits
                .iter()
                .try_for_each(|&at| builder.add_position(at))
        })
    };
    convert().or_raise()
}
