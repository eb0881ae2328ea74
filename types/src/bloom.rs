//! The type `bloom` as argument and as result.

use super::value::{build_query, input, message_bytes, modifier, output, value_type};
use base::range::unit;
use base::{Error, ErrorKind, Result};
use bitvec::order::Msb0;
use bitvec::view::BitView;
use pg::entry;
use pg::error::{warn, OrRaise};
use pg::values::varlena::{build, NewValue, Varlena};
use pgrx::{pg_sys, Internal, JsonB};
use serde::{Deserialize, Deserializer, Serialize};
use signature::filter::query::{parse_query_text, write_query_text};
use signature::filter::typmod::{enforce, BLOOM};
use signature::filter::{
    parse_id, parse_text, typmod, write_text, Builder, Edited, QueryView, Shape, View, FULL,
};
use signature::similarity::{above, at_least, jaccard_of_dice};
use std::ffi::{CStr, CString};

value_type!(Bloom, NewBloom, View, "bloom");

impl NewBloom {
    /// An empty signature of `shape`, with what `fill` puts in.
    pub fn new(shape: Shape, fill: impl FnOnce(&mut Builder<'_>) -> Result<()>) -> NewBloom {
        NewBloom::try_new(shape, fill).or_raise()
    }

    /// [`NewBloom::new`] for callers that handle the error.
    pub fn try_new(
        shape: Shape,
        fill: impl FnOnce(&mut Builder<'_>) -> Result<()>,
    ) -> Result<NewBloom> {
        build(Builder::size(shape), |bytes| {
            let mut builder = Builder::new(shape, bytes);
            fill(&mut builder)?;
            builder.finish();
            Ok(())
        })
        .map(NewBloom)
    }

    /// A copy of `view`, changed by `change`.
    pub fn changed(
        view: &View<'_>,
        change: impl FnOnce(&mut Builder<'_>) -> Result<()>,
    ) -> NewBloom {
        build(view.bytes().len(), |bytes| {
            let mut builder = Builder::from_view(view, bytes);
            change(&mut builder)?;
            builder.finish();
            Ok(())
        })
        .map(NewBloom)
        .or_raise()
    }
}

// Text and binary input and output of `bloom`. Output is trusted; input is not.

fn parse(text: &str, typmod: i32) -> Result<NewBloom> {
    let mut bytes = Vec::new();
    parse_text(text, &mut bytes)?;
    enforce(&BLOOM, typmod, View::untrusted(&bytes)?.shape())?;
    NewBloom::from_untrusted(&bytes)
}

/// `(cstring, oid, integer) RETURNS bloom`
#[entry]
fn bloom_in(
    text: &CStr,
    _element: pg_sys::Oid,
    typmod: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<NewBloom> {
    input(text, fcinfo, |text| parse(text, typmod))
}

#[entry]
fn bloom_out(value: Bloom<'_>) -> CString {
    let view = value.view();
    output(60 + 2 * view.bits().len(), |to| write_text(&view, to))
}

/// `bloom_recv(internal, oid, integer)`
#[entry]
fn bloom_recv(message: Internal, _element: pg_sys::Oid, typmod: i32) -> NewBloom {
    let bytes = message_bytes(message);
    let view = View::untrusted(bytes).or_raise();
    enforce(&BLOOM, typmod, view.shape()).or_raise();
    NewBloom::from_untrusted(bytes).or_raise()
}

/// The stored bytes themselves.
#[entry]
fn bloom_send(value: Bloom<'_>) -> Vec<u8> {
    value.view().bytes().to_vec()
}

// The type modifier `bloom(k,p,q)`, which the core reads and writes.

/// `(cstring[]) RETURNS integer`
///
/// `bloom(7,43,3)`, from an array of C strings.
#[entry]
fn bloom_typmod_in(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: declared as taking one cstring[], and STRICT.
    let written = unsafe { modifier(fcinfo) };
    typmod::pack(typmod::parse(&BLOOM, &written).or_raise())
}

#[entry]
fn bloom_typmod_out(typmod: i32) -> CString {
    CString::new(typmod::show(typmod)).expect("no zero byte")
}

/// The length coercion: the value itself, or an error.
#[entry]
fn bloom_apply_typmod(value: Bloom<'_>, typmod: i32, _explicit: bool) -> NewBloom {
    typmod::enforce(&BLOOM, typmod, value.view().shape()).or_raise();
    value.into_result()
}

// What the builds of indexes say of signatures that are full.

/// Warns of signatures that are full, if there are any. They are indexed like others.
pub fn warn_of_full(index: &str, full: u64, signed: u64) {
    if full == 0 {
        return;
    }
    let message = format!(
        "{:.1} % of the signatures in index \"{index}\" have more than {:.0} % of their bits set",
        100.0 * full as f64 / signed as f64,
        100.0 * FULL
    );
    warn(
        &Error::new(ErrorKind::InvalidParameter, message)
            .detail(format!(
                "{full} of {signed} signatures are similar to each other, whatever was signed."
            ))
            .hint("Plan signatures for longer texts, by max_chars, or sign fewer columns."),
    );
}

// The type `bloom_query`: a signature and the similarity that it is searched with.

value_type!(BloomQuery, NewQuery, QueryView, "bloom_query");

impl NewQuery {
    /// `threshold` is in [0,1].
    pub fn new(signature: &View<'_>, threshold: f64) -> NewQuery {
        NewQuery(build_query(signature.bytes(), threshold))
    }

    /// The same for what is within some edits of a text, too. `signature` is of n-grams.
    pub fn of_edited(signature: &View<'_>, threshold: f64, edited: &Edited<'_>) -> NewQuery {
        let value = signature.bytes().iter().copied().chain(edited.bytes());
        NewQuery(build_query(&value.collect::<Vec<u8>>(), threshold))
    }
}

/// `(cstring) RETURNS bloom_query`
#[entry]
fn bloom_query_in(text: &CStr, fcinfo: pg_sys::FunctionCallInfo) -> Option<NewQuery> {
    input(text, fcinfo, |text| {
        let mut bytes = Vec::new();
        parse_query_text(text, &mut bytes)?;
        NewQuery::from_untrusted(&bytes)
    })
}

#[entry]
fn bloom_query_out(query: BloomQuery<'_>) -> CString {
    let view = query.view();
    let size = 84 + 2 * view.signature.bits().len() + Edited::LONGEST;
    output(size, |to| write_query_text(&view, to))
}

#[entry]
fn bloom_query_recv(message: Internal) -> NewQuery {
    NewQuery::from_untrusted(message_bytes(message)).or_raise()
}

#[entry]
fn bloom_query_send(query: BloomQuery<'_>) -> Vec<u8> {
    query.0.bytes().to_vec()
}

/// `bloom_query(bloom, float8)`, the user's: the threshold lies in [0,1].
#[entry]
fn bloom_query(signature: Bloom<'_>, threshold: f64) -> NewQuery {
    unit("threshold", threshold)
        .map_err(|e| e.of_kind(ErrorKind::InvalidParameter))
        .or_raise();
    NewQuery::new(&signature.view(), threshold)
}

/// The planner's: whatever `bloom_sim(…) >= c` asks.
#[entry]
fn bloom_query_at_least(signature: Bloom<'_>, least: f64) -> NewQuery {
    NewQuery::new(&signature.view(), at_least(least, 0.0))
}

/// The planner's: whatever `bloom_sim(…) > c` asks.
#[entry]
fn bloom_query_above(signature: Bloom<'_>, limit: f64) -> NewQuery {
    NewQuery::new(&signature.view(), above(limit, 0.0))
}

/// The planner's: at least what `bloom_dice(…) >= c` asks.
#[entry]
fn bloom_query_of_dice(signature: Bloom<'_>, least: f64) -> NewQuery {
    NewQuery::new(&signature.view(), jaccard_of_dice(least))
}

// Casts between `bloom` and `bit varying`, `bytea` and `jsonb`.

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
        (Varlena::new(args[0].value), args[1].value.value() as i32)
    };
    let bytes = value.bytes();
    let (length, bits) = bytes.split_at(LENGTH);
    let length = i32::from_ne_bytes(length.try_into().expect("four bytes"));
    let convert = || -> Result<NewBloom> {
        let Some(shape) = typmod::shape_of(typmod)? else {
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
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
        id: shape.is_keyed().then(|| format!("{:016x}", shape.id())),
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
        let hash = json.hash.unwrap_or(Shape::family_of(json.q));
        let id = json.id.as_deref().map_or(Ok(0), parse_id)?;
        let shape = Shape::written([json.k, json.p, json.q], [json.rules, hash, json.key], id)?;
        NewBloom::try_new(shape, |builder| {
            json.bits
                .iter()
                .try_for_each(|&at| builder.add_position(at))
        })
    };
    convert().or_raise()
}
