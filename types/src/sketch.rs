//! The types `minhash`, `minhash_bits` and `minhash_query`: input and output, modifiers, and views for the core.

use crate::value::{build_query, corrupt, input, message_bytes, modifier, output, value_type};
use base::range::unit;
use base::Result;
use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::{build, Varlena};
use pgrx::{pg_sys, FromDatum, Internal};
use signature::similarity::{above, at_least};
use signature::sketch::query::{parse_bits_query_text, write_bits_query_text, LEAST};
use signature::sketch::{
    parse_text, sample, typmod, write_bits, write_minima, write_text, BitsQueryView, BitsView,
    MinimaView, Signer, SketchKind, SketchShape, SketchView, HEADER,
};
use std::ffi::{CStr, CString};

// Text and binary input and output of `minhash` and `minhash_bits`. Output is trusted; input is not.

/// The bytes of a text form of the shape that a modifier asks for.
fn parse(kind: SketchKind, text: &str, typmod: i32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    parse_text(kind, text, &mut bytes)?;
    let shape = SketchView::untrusted(kind, &bytes)?.shape();
    typmod::enforce(kind, typmod, shape)?;
    Ok(bytes)
}

/// The bytes of a message of the shape that a modifier asks for.
fn receive<'a>(kind: SketchKind, message: Internal, typmod: i32) -> &'a [u8] {
    let bytes = message_bytes(message);
    let shape = SketchView::untrusted(kind, bytes).or_raise().shape();
    typmod::enforce(kind, typmod, shape).or_raise();
    bytes
}

fn show(view: &SketchView<'_>) -> CString {
    output(20 + 2 * view.payload().len(), |to| write_text(view, to))
}

/// `(cstring, oid, integer) RETURNS minhash`
#[entry]
fn minhash_in(
    text: &CStr,
    _element: pg_sys::Oid,
    typmod: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<NewMinhash> {
    input(text, fcinfo, |text| {
        NewMinhash::from_untrusted(&parse(Minhash::KIND, text, typmod)?)
    })
}

#[entry]
fn minhash_out(value: Minhash<'_>) -> CString {
    show(&value.view().sketch())
}

/// `minhash_recv(internal, oid, integer)`
#[entry]
fn minhash_recv(message: Internal, _element: pg_sys::Oid, typmod: i32) -> NewMinhash {
    NewMinhash::from_untrusted(receive(Minhash::KIND, message, typmod)).or_raise()
}

/// The stored bytes themselves.
#[entry]
fn minhash_send(value: Minhash<'_>) -> Vec<u8> {
    value.view().sketch().bytes().to_vec()
}

/// `(cstring, oid, integer) RETURNS minhash_bits`
#[entry]
fn minhash_bits_in(
    text: &CStr,
    _element: pg_sys::Oid,
    typmod: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<NewMinhashBits> {
    input(text, fcinfo, |text| {
        NewMinhashBits::from_untrusted(&parse(MinhashBits::KIND, text, typmod)?)
    })
}

#[entry]
fn minhash_bits_out(value: MinhashBits<'_>) -> CString {
    show(&value.view().sketch())
}

/// `minhash_bits_recv(internal, oid, integer)`
#[entry]
fn minhash_bits_recv(message: Internal, _element: pg_sys::Oid, typmod: i32) -> NewMinhashBits {
    NewMinhashBits::from_untrusted(receive(MinhashBits::KIND, message, typmod)).or_raise()
}

/// The stored bytes themselves.
#[entry]
fn minhash_bits_send(value: MinhashBits<'_>) -> Vec<u8> {
    value.view().sketch().bytes().to_vec()
}

// The type modifiers `minhash(n)` and `minhash_bits(n)`, which the core reads and writes.

/// # Safety
/// `fcinfo` is that of a call with one argument, a `cstring[]` that is not NULL.
unsafe fn read(kind: SketchKind, fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: the caller says so.
    typmod::pack(typmod::parse(kind, &unsafe { modifier(fcinfo) }).or_raise())
}

/// `(cstring[]) RETURNS integer`
///
/// `minhash(128)`, from an array of C strings.
#[entry]
fn minhash_typmod_in(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: declared as taking one cstring[], and STRICT.
    unsafe { read(Minhash::KIND, fcinfo) }
}

/// `(cstring[]) RETURNS integer`
///
/// `minhash_bits(192)`, from an array of C strings.
#[entry]
fn minhash_bits_typmod_in(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: declared as taking one cstring[], and STRICT.
    unsafe { read(MinhashBits::KIND, fcinfo) }
}

/// Of both types.
#[entry]
fn minhash_typmod_out(typmod: i32) -> CString {
    CString::new(typmod::show(typmod)).expect("no zero byte")
}

/// The length coercion: the value itself, or an error.
#[entry]
fn minhash_apply_typmod(value: Minhash<'_>, typmod: i32, _explicit: bool) -> NewMinhash {
    let shape = value.view().sketch().shape();
    typmod::enforce(Minhash::KIND, typmod, shape).or_raise();
    value.into_result()
}

/// The same of bits.
#[entry]
fn minhash_bits_apply_typmod(
    value: MinhashBits<'_>,
    typmod: i32,
    _explicit: bool,
) -> NewMinhashBits {
    let shape = value.view().sketch().shape();
    typmod::enforce(MinhashBits::KIND, typmod, shape).or_raise();
    value.into_result()
}

// The type `minhash_query`: sampled bits and the similarity that they are searched with.

value_type!(
    MinhashQuery,
    NewMinhashQuery,
    BitsQueryView,
    "minhash_query"
);

impl NewMinhashQuery {
    /// `threshold` is one that a query can have.
    fn new(bits: &BitsView<'_>, threshold: f64) -> NewMinhashQuery {
        NewMinhashQuery(build_query(bits.sketch().bytes(), threshold))
    }

    /// What finds the rows with an estimate of at least `least`, which is any number.
    pub fn at_least(bits: &BitsView<'_>, least: f64) -> NewMinhashQuery {
        NewMinhashQuery::new(bits, at_least(least, LEAST))
    }
}

/// `(cstring) RETURNS minhash_query`
#[entry]
fn minhash_query_in(text: &CStr, fcinfo: pg_sys::FunctionCallInfo) -> Option<NewMinhashQuery> {
    input(text, fcinfo, |text| {
        let mut bytes = Vec::new();
        parse_bits_query_text(text, &mut bytes)?;
        NewMinhashQuery::from_untrusted(&bytes)
    })
}

#[entry]
fn minhash_query_out(query: MinhashQuery<'_>) -> CString {
    let view = query.view();
    let size = 64 + 2 * view.sketch.sketch().payload().len();
    output(size, |to| write_bits_query_text(&view, to))
}

#[entry]
fn minhash_query_recv(message: Internal) -> NewMinhashQuery {
    NewMinhashQuery::from_untrusted(message_bytes(message)).or_raise()
}

#[entry]
fn minhash_query_send(query: MinhashQuery<'_>) -> Vec<u8> {
    query.0.bytes().to_vec()
}

/// `minhash_query(minhash_bits, float8)`, the user's: the similarity lies in [0,1].
#[entry]
fn minhash_query(bits: MinhashBits<'_>, similarity: f64) -> NewMinhashQuery {
    unit("similarity", similarity).or_raise();
    NewMinhashQuery::new(&bits.view(), similarity)
}

/// The planner's: whatever `minhash_sim(…) >= c` asks.
#[entry]
fn minhash_query_at_least(bits: MinhashBits<'_>, least: f64) -> NewMinhashQuery {
    NewMinhashQuery::at_least(&bits.view(), least)
}

/// The planner's: whatever `minhash_sim(…) > c` asks.
#[entry]
fn minhash_query_above(bits: MinhashBits<'_>, limit: f64) -> NewMinhashQuery {
    NewMinhashQuery::new(&bits.view(), above(limit, LEAST))
}

// Sketches as arguments and as results.

value_type!(Minhash, NewMinhash, MinimaView, "minhash");
value_type!(MinhashBits, NewMinhashBits, BitsView, "minhash_bits");

impl Minhash<'_> {
    pub const KIND: SketchKind = SketchKind::Minima;
}

impl MinhashBits<'_> {
    pub const KIND: SketchKind = SketchKind::Bits;
}

/// A new sketch of a kind and a shape, as `write` writes it.
fn build_sketch(
    kind: SketchKind,
    shape: SketchShape,
    write: impl FnOnce(&mut [u8]),
) -> *mut pg_sys::varlena {
    let value = build(HEADER + kind.payload(shape), |to| {
        write(to);
        Ok(())
    });
    value.or_raise()
}

impl NewMinhash {
    /// The sketch of the tokens that were added.
    pub fn signed(signer: &mut Signer) -> NewMinhash {
        let shape = signer.shape();
        NewMinhash(build_sketch(Minhash::KIND, shape, |to| {
            write_minima(signer, to)
        }))
    }

    /// That of the union of both sets.
    ///
    /// Errors: different shapes.
    pub fn union(a: &MinimaView<'_>, b: &MinimaView<'_>) -> Result<NewMinhash> {
        let bytes = a.sketch().bytes();
        build(bytes.len(), |to| {
            to.copy_from_slice(bytes);
            b.unite_into(to)
        })
        .map(NewMinhash)
    }
}

impl NewMinhashBits {
    /// The sketch of the tokens that were added.
    pub fn signed(signer: &mut Signer) -> NewMinhashBits {
        let shape = signer.shape();
        NewMinhashBits(build_sketch(MinhashBits::KIND, shape, |to| {
            write_bits(signer, to)
        }))
    }

    /// The lowest bits of minima.
    pub fn sampled(minima: &MinimaView<'_>) -> NewMinhashBits {
        let shape = minima.sketch().shape();
        NewMinhashBits(build_sketch(MinhashBits::KIND, shape, |to| {
            sample(minima, to)
        }))
    }
}

/// An argument of either type, for what does not depend on which.
pub struct AnySketch<'a>(Varlena<'a>);

pg::values::argument!(AnySketch, "any");

impl AnySketch<'_> {
    #[inline]
    pub fn view(&self) -> SketchView<'_> {
        let bytes = self.0.bytes();
        SketchView::of_any_kind(bytes).unwrap_or_else(|| corrupt("minhash or minhash_bits", bytes))
    }
}

impl FromDatum for AnySketch<'_> {
    #[inline]
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the argument is declared as a type of sketches, and is not null.
        (!is_null).then(|| AnySketch(unsafe { Varlena::new(datum) }))
    }
}
