//! Text and binary input and output of `bloom`. Output is trusted; input is not.

use std::ffi::{CStr, CString};

use base::Result;
use pgrx::{pg_sys, Internal};
use signature::filter::typmod::{enforce, BLOOM};
use signature::filter::{parse_text, write_text, View};

use super::bloom::{Bloom, NewBloom};
use super::value::{input, message_bytes, output};
use pg::entry;
use pg::error::OrRaise;

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
