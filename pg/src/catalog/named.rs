//! Relations that people name in texts.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use crate::values::text::to_database;

/// What [`find`] does where there is no such relation: it gives InvalidOid.
pub const MISSING_OK: u32 = pg_sys::RVROption::RVR_MISSING_OK;

/// The parts of a name as people write it; `None` if it has a zero byte.
///
/// Errors: no name.
pub fn split(given: &str) -> Option<Vec<CString>> {
    let c = CString::new(to_database(given)).ok()?;
    // SAFETY: the server reads names from a text, and gives a list of strings; they are copied.
    unsafe {
        let list = pg_sys::textToQualifiedNameList(pg_sys::cstring_to_text(c.as_ptr()));
        let name = |i| CStr::from_ptr((*pg_sys::list_nth(list, i).cast::<pg_sys::String>()).sval);
        Some((0..(*list).length).map(|i| name(i).to_owned()).collect())
    }
}

/// The relation of this name, by the search_path if no schema is given.
///
/// Errors: there is none, unless `flags` say otherwise.
pub fn find(names: &[CString], flags: u32) -> pg_sys::Oid {
    let (schema, name) = match names {
        [schema, name] => (schema.as_ptr().cast_mut(), name),
        [name] => (std::ptr::null_mut(), name),
        _ => return pg_sys::InvalidOid,
    };
    // SAFETY: C strings, which stay as long as the look-up. Nothing is locked: that comes next, when it is known that
    // the caller may read it.
    unsafe {
        let range = pg_sys::makeRangeVar(schema, name.as_ptr().cast_mut(), -1);
        let none = pg_sys::NoLock as pg_sys::LOCKMODE;
        pg_sys::RangeVarGetRelidExtended(range, none, flags, None, std::ptr::null_mut())
    }
}
