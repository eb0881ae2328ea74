//! The type `bloom` as argument and as result.

use super::value::{input, message_bytes, modifier, output, value_type};
use base::{Error, ErrorKind, Result};
use pg::entry;
use pg::error::{warn, OrRaise};
use pg::values::varlena::build;
use pgrx::{pg_sys, Internal};
use signature::filter::typmod::{self, enforce, BLOOM};
use signature::filter::{parse_text, write_text, Builder, Shape, View, FULL};
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
    output(40 + 2 * view.bits().len(), |to| write_text(&view, to))
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
