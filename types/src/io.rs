//! Text and binary input and output of `bloom`. Output is trusted; input is not.

use std::ffi::{CStr, CString};

use base::{Error, Result};
use pgrx::{pg_sys, Internal};
use signature::filter::typmod::{enforce, BLOOM};
use signature::filter::{parse_text, write_text, View};

use super::bloom::{Bloom, NewBloom};
use pg::entry;
use pg::error::{save_or_raise, OrRaise};

fn parse(text: &str, typmod: i32) -> Result<NewBloom> {
    let mut bytes = Vec::new();
    parse_text(text, &mut bytes)?;
    enforce(&BLOOM, typmod, View::untrusted(&bytes)?.shape())?;
    NewBloom::from_untrusted(&bytes)
}

/// `(cstring, oid, integer) RETURNS bloom`
///
/// `bloom_in(cstring, oid, integer)`
#[entry]
fn bloom_in(
    text: &CStr,
    _element: pg_sys::Oid,
    typmod: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<NewBloom> {
    // what is right is ASCII; what is not needs no conversion, which could fail in its own way
    match parse(&text.to_string_lossy(), typmod) {
        Ok(bloom) => Some(bloom),
        Err(e) => {
            save_or_raise(fcinfo, &e);
            None
        }
    }
}

#[entry]
fn bloom_out(value: Bloom<'_>) -> CString {
    let view = value.view();
    let mut text = String::new();
    let size = 40 + 2 * view.bits().len();
    text.try_reserve(size)
        .map_err(|_| Error::out_of_memory(size))
        .or_raise();
    write_text(&view, &mut text);
    CString::new(text).expect("no zero byte")
}

/// What a receive function gets: the rest of the message is the value.
pub fn message_bytes<'a>(mut message: Internal) -> &'a [u8] {
    // SAFETY: the server passes a StringInfo that outlives the call.
    unsafe {
        let buffer: &mut pg_sys::StringInfoData =
            message.get_mut().expect("receive functions get a buffer");
        let n = buffer.len - buffer.cursor;
        let start = pg_sys::pq_getmsgbytes(buffer, n);
        std::slice::from_raw_parts(start.cast::<u8>(), n as usize)
    }
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
