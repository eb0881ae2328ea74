//! The type `jsonb`, as the JSON text that it stands for.

use std::ffi::{CStr, CString};

use bloom_ident_core::{Error, ErrorKind};
use pgrx::pg_sys;

use crate::pg::error::raise;
use crate::pg::ffi;
use crate::pg::values::text::{to_database, utf8};

/// The text of a value, in UTF-8.
///
/// Errors: the database's encoding does not say what its characters are.
///
/// # Safety
/// `value` is a `jsonb` that is not NULL.
pub unsafe fn json_text(value: pg_sys::Datum) -> String {
    let (mut function, mut is_varlena) = (pg_sys::InvalidOid, false);
    // SAFETY: a type that exists, and a value of it. The function gives a new zero-terminated string, which is freed when it has been copied.
    let text = unsafe {
        pg_sys::getTypeOutputInfo(pg_sys::JSONBOID, &mut function, &mut is_varlena);
        let text = ffi::OidOutputFunctionCall(function, value);
        let copy = utf8(CStr::from_ptr(text).to_bytes());
        pg_sys::pfree(text.cast());
        copy
    };
    text.unwrap_or_else(|| {
        raise(&Error::new(
            ErrorKind::InvalidText,
            "jsonb value is not valid UTF-8",
        ))
    })
}

/// A new `jsonb` of a JSON text.
///
/// Errors: no JSON, or some that jsonb cannot hold; a character that the database's encoding does not have.
pub fn jsonb_datum(text: &str) -> pg_sys::Datum {
    let Ok(text) = CString::new(to_database(text)) else {
        raise(&Error::new(
            ErrorKind::InvalidText,
            "JSON text has a zero byte",
        ))
    };
    let (mut function, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
    // SAFETY: a type that exists. Its input function takes a zero-terminated string, and gives a value that does not point into it.
    unsafe {
        pg_sys::getTypeInputInfo(pg_sys::JSONBOID, &mut function, &mut parameter);
        ffi::OidInputFunctionCall(function, text.as_ptr().cast_mut(), parameter, -1)
    }
}
