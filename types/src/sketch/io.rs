//! Text and binary input and output of `minhash` and `minhash_bits`. Output is trusted; input is not.

use std::ffi::{CStr, CString};

use base::{Error, Result};
use pgrx::{pg_sys, Internal};
use signature::sketch::typmod::enforce;
use signature::sketch::{parse_text, write_text, SketchKind, SketchView};

use super::values::{Minhash, MinhashBits, NewMinhash, NewMinhashBits};
use crate::io::message_bytes;
use pg::entry;
use pg::error::{save_or_raise, OrRaise};

/// The bytes of a text form of the shape that a modifier asks for.
fn parse(kind: SketchKind, text: &CStr, typmod: i32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // what is right is ASCII; what is not needs no conversion, which could fail in its own way
    parse_text(kind, &text.to_string_lossy(), &mut bytes)?;
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
    let mut text = String::new();
    let size = 20 + 2 * view.payload().len();
    text.try_reserve(size)
        .map_err(|_| Error::out_of_memory(size))
        .or_raise();
    write_text(view, &mut text);
    CString::new(text).expect("no zero byte")
}

/// The value, or `None` where the error was collected.
fn accepted<T>(value: Result<T>, fcinfo: pg_sys::FunctionCallInfo) -> Option<T> {
    value.map_err(|e| save_or_raise(fcinfo, &e)).ok()
}

/// `(cstring, oid, integer) RETURNS minhash`
///
/// `minhash_in(cstring, oid, integer)`
#[entry]
fn minhash_in(
    text: &CStr,
    _element: pg_sys::Oid,
    typmod: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<NewMinhash> {
    let bytes = parse(Minhash::KIND, text, typmod);
    accepted(bytes.and_then(|b| NewMinhash::from_untrusted(&b)), fcinfo)
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
///
/// `minhash_bits_in(cstring, oid, integer)`
#[entry]
fn minhash_bits_in(
    text: &CStr,
    _element: pg_sys::Oid,
    typmod: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<NewMinhashBits> {
    let bytes = parse(MinhashBits::KIND, text, typmod);
    accepted(
        bytes.and_then(|b| NewMinhashBits::from_untrusted(&b)),
        fcinfo,
    )
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
