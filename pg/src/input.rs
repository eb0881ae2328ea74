//! Values of texts, as the input functions of their types read them.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::ffi;

/// The value of a text, in the current memory context; `None` if the type's input function refuses it.
///
/// Errors: those of the function that are not about the text.
///
/// # Safety
/// The type exists, and has this modifier.
#[cfg(not(feature = "pg15"))]
pub unsafe fn value_of(text: &CStr, of_type: pg_sys::Oid, modifier: i32) -> Option<pg_sys::Datum> {
    let (mut function, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
    let (mut call, mut value) = (pg_sys::FmgrInfo::default(), pg_sys::Datum::null());
    let mut refused = pg_sys::ErrorSaveContext {
        type_: pg_sys::NodeTag::T_ErrorSaveContext,
        ..Default::default()
    };
    // SAFETY: the caller's. An input function reads a C string, and writes to the node that errors go to.
    let is_read = unsafe {
        pg_sys::getTypeInputInfo(of_type, &mut function, &mut parameter);
        pg_sys::fmgr_info(function, &mut call);
        let text = text.as_ptr().cast_mut();
        let to = (&raw mut refused).cast();
        ffi::InputFunctionCallSafe(&mut call, text, parameter, modifier, to, &mut value)
    };
    is_read.then_some(value)
}

/// The same for PostgreSQL 15, whose input functions fail: a subtransaction, but for texts that they do not refuse.
///
/// Errors: within a parallel query, in which there are no subtransactions, also those that are about the text.
///
/// # Safety
/// As above.
#[cfg(feature = "pg15")]
pub unsafe fn value_of(text: &CStr, of_type: pg_sys::Oid, modifier: i32) -> Option<pg_sys::Datum> {
    let (mut function, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
    // SAFETY: the caller's. An input function reads a C string, and leaves nothing open.
    unsafe {
        pg_sys::getTypeInputInfo(of_type, &mut function, &mut parameter);
        let string = text.as_ptr().cast_mut();
        let read = || ffi::OidInputFunctionCall(function, string, parameter, modifier);
        match is_surely_one(text.to_bytes(), of_type, modifier) || pg_sys::IsInParallelMode() {
            true => Some(read()),
            false => crate::session::in_subtransaction(read, |error| error.is_of_value()).ok(),
        }
    }
}

/// Whether an input function does not refuse a text.
#[cfg(feature = "pg15")]
fn is_surely_one(text: &[u8], of_type: pg_sys::Oid, modifier: i32) -> bool {
    match of_type {
        // The modifier is the length, and that of a header.
        pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID => {
            modifier < 0 || text.len() + pg_sys::VARHDRSZ <= modifier as usize
        }
        // As the type's output function writes it.
        pg_sys::UUIDOID => {
            let is_of_uuid = |(place, byte): (usize, &u8)| match place {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            };
            text.len() == 36 && text.iter().enumerate().all(is_of_uuid)
        }
        _ => false,
    }
}
