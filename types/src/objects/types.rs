//! Whether a type is ours, and which.

use std::ffi::c_int;

use pgrx::pg_sys;

use super::functions::function;
use super::purpose::Purpose;

/// Whether a type, or that of which it is a domain, is `bloom`.
pub fn is_signature(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::SignatureInput)
}

/// Whether a type, or that of which it is a domain, is `bloom_query`.
pub fn is_query(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::QueryInput)
}

/// Whether a type, or that of which it is a domain, is `minhash_bits`.
pub fn is_bits(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::BitsInput)
}

/// Whether a type, or that of which it is a domain, is `minhash_query`.
pub fn is_bits_query(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::BitsQueryInput)
}

fn has_input(of_type: pg_sys::Oid, purpose: Purpose) -> bool {
    // SAFETY: a row of pg_type, released when the input function is known.
    let input = unsafe {
        let base = pg_sys::getBaseType(of_type);
        let cache = pg_sys::SysCacheIdentifier::TYPEOID as c_int;
        let row = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(base));
        if row.is_null() {
            return false;
        }
        let input = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_type>()).typinput;
        pg_sys::ReleaseSysCache(row);
        input
    };
    function(input).is_some_and(|f| f.purpose == purpose)
}
