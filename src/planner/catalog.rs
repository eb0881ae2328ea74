//! The extension's own objects, found beside one of its functions, in whatever schema that is.

use std::ffi::CStr;

use pgrx::pg_sys;

/// The namespace of a function.
fn namespace(function: pg_sys::Oid) -> pg_sys::Datum {
    // SAFETY: a catalog look-up by OID.
    pg_sys::Datum::from(unsafe { pg_sys::get_func_namespace(function) })
}

/// The function `name(args)` beside `near`; `None` when there is none.
pub fn function(near: pg_sys::Oid, name: &CStr, args: &[pg_sys::Oid]) -> Option<pg_sys::Oid> {
    // SAFETY: the key of the cache PROCNAMEARGSNSP is name, argument types and namespace.
    let found = unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32,
            pg_sys::Anum_pg_proc_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(name.as_ptr()),
            pg_sys::Datum::from(pg_sys::buildoidvector(args.as_ptr(), args.len() as i32)),
            namespace(near),
            pg_sys::Datum::null(),
        )
    };
    (found != pg_sys::InvalidOid).then_some(found)
}

/// The type `name` beside `near`.
pub fn type_named(near: pg_sys::Oid, name: &CStr) -> Option<pg_sys::Oid> {
    // SAFETY: the key of the cache TYPENAMENSP is name and namespace.
    let found = unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::TYPENAMENSP as i32,
            pg_sys::Anum_pg_type_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(name.as_ptr()),
            namespace(near),
            pg_sys::Datum::null(),
            pg_sys::Datum::null(),
        )
    };
    (found != pg_sys::InvalidOid).then_some(found)
}

/// The operator `left name right` beside `near`.
pub fn operator(
    near: pg_sys::Oid,
    name: &CStr,
    left: pg_sys::Oid,
    right: pg_sys::Oid,
) -> Option<pg_sys::Oid> {
    // SAFETY: the key of the cache OPERNAMENSP is name, left and right type and namespace.
    let found = unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::OPERNAMENSP as i32,
            pg_sys::Anum_pg_operator_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(name.as_ptr()),
            pg_sys::Datum::from(left),
            pg_sys::Datum::from(right),
            namespace(near),
        )
    };
    (found != pg_sys::InvalidOid).then_some(found)
}
