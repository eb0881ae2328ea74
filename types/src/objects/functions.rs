//! Whether a function or an operator is ours, and which.

use std::ffi::{c_int, c_void, CString};

use pgrx::pg_sys;

use super::cache::{kept, KNOWN};
use super::purpose::{Function, Purpose, FUNCTIONS};
use pg::ffi;
use pg::values::varlena::Varlena;

/// pg_language.dat
const C_LANGUAGE: u32 = 13;

/// The function, if it is one of [`FUNCTIONS`], and ours.
pub fn function(oid: pg_sys::Oid) -> Option<Function> {
    if oid.to_u32() < pg_sys::FirstNormalObjectId {
        return None;
    }
    kept(&KNOWN, oid, || identify(oid))
}

fn identify(oid: pg_sys::Oid) -> Option<Function> {
    let (found, source, library) = described(oid)?;
    // SAFETY: two C strings. The library is loaded as if the function were called; only a superuser can have named one.
    let code = unsafe {
        ffi::load_external_function(
            library.as_ptr(),
            source.as_ptr(),
            false,
            std::ptr::null_mut(),
        )
    };
    is_of_this_library(code).then_some(found)
}

/// A function in C with the source name of one of ours; its source and its library.
fn described(oid: pg_sys::Oid) -> Option<(Function, CString, CString)> {
    let cache = pg_sys::SysCacheIdentifier::PROCOID as c_int;
    // SAFETY: a row of pg_proc, which is released when all has been copied from it. Both attributes are texts.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(oid));
        if row.is_null() {
            return None;
        }
        let form = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>();
        let text = |attribute: u32| {
            let mut is_null = false;
            let value =
                pg_sys::SysCacheGetAttr(cache, row, attribute as pg_sys::AttrNumber, &mut is_null);
            let bytes = (!is_null).then(|| Varlena::of(value).bytes().to_vec())?;
            CString::new(bytes).ok()
        };
        let in_c = form.prolang.to_u32() == C_LANGUAGE;
        let found = in_c.then(|| text(pg_sys::Anum_pg_proc_prosrc)).flatten();
        let found = found.and_then(|source| {
            let name = source.to_bytes().strip_suffix(b"_wrapper")?;
            let (purpose, _) = FUNCTIONS.iter().find(|f| f.1.to_bytes() == name)?;
            let arguments = form.proargtypes.dim1.max(0) as usize;
            if purpose.arguments().is_some_and(|n| n != arguments) {
                return None;
            }
            let function = Function {
                purpose: *purpose,
                first: *form.proargtypes.values.as_slice(arguments).first()?,
                result: form.prorettype,
            };
            Some((function, source, text(pg_sys::Anum_pg_proc_probin)?))
        });
        pg_sys::ReleaseSysCache(row);
        found
    }
}

/// Whether code lies where this library is loaded.
fn is_of_this_library(code: *const c_void) -> bool {
    let own = ffi::library_of(identify as *const c_void);
    !code.is_null() && own.is_some() && ffi::library_of(code) == own
}

/// Whether an operator is `bloom % bloom_query`.
pub fn is_match(operator: pg_sys::Oid) -> bool {
    has_purpose(operator, Purpose::Matches)
}

/// Whether an operator is `minhash_bits % minhash_query`.
pub fn is_bits_match(operator: pg_sys::Oid) -> bool {
    has_purpose(operator, Purpose::BitsMatches)
}

fn has_purpose(operator: pg_sys::Oid, purpose: Purpose) -> bool {
    // SAFETY: a catalog look-up by OID.
    let code = unsafe { pg_sys::get_opcode(operator) };
    function(code).is_some_and(|f| f.purpose == purpose)
}
