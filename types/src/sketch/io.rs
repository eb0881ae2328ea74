//! Text and binary input and output of `minhash` and `minhash_bits`. Output is trusted; input is not.

use std::ffi::{CStr, CString};

use base::Result;
use pgrx::{pg_sys, Internal};
use signature::sketch::typmod::enforce;
use signature::sketch::{parse_text, write_text, SketchKind, SketchView};

use super::values::{Minhash, MinhashBits, NewMinhash, NewMinhashBits};
use crate::value::{input, message_bytes, output};
use pg::entry;
use pg::error::OrRaise;

/// The bytes of a text form of the shape that a modifier asks for.
fn parse(kind: SketchKind, text: &str, typmod: i32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    parse_text(kind, text, &mut bytes)?;
    let shape = SketchView::untrusted(kind, &bytes)?.shape();
    enforce(kind, typmod, shape)?;
    Ok(bytes)
}

/// The bytes of a message of the shape that a modifier asks for.
fn receive<'a>(kind: SketchKind, message: Internal, typmod: i32) -> &'a [u8] {
    let bytes = message_bytes(message);
    let shape = SketchView::untrusted(kind, bytes).or_raise().shape();
    enforce(kind, typmod, shape).or_raise();
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
