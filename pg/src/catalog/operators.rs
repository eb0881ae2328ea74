//! Operators by which values of a type are compared, and collations.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use super::{in_schema, unknown, with_row};

/// Schema and name of an operator.
pub fn named(oid: pg_sys::Oid) -> (CString, CString) {
    let read = |_, form: &pg_sys::FormData_pg_operator| in_schema(form.oprnamespace, &form.oprname);
    // SAFETY: the cache is by OID, and has rows of this form.
    let found = unsafe { with_row(pg_sys::SysCacheIdentifier::OPEROID, oid, read) };
    found.unwrap_or_else(unknown)
}

/// The operator of a name and of these types in the schema of a function; InvalidOid if there is none.
pub fn beside(function: pg_sys::Oid, name: &CStr, [left, right]: [pg_sys::Oid; 2]) -> pg_sys::Oid {
    // SAFETY: the key of the cache OPERNAMENSP is name, left and right type and namespace.
    unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::OPERNAMENSP as i32,
            pg_sys::Anum_pg_operator_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(name.as_ptr()),
            pg_sys::Datum::from(left),
            pg_sys::Datum::from(right),
            pg_sys::Datum::from(pg_sys::get_func_namespace(function)),
        )
    }
}

/// Schema and name of a collation; `None` where there is none.
pub fn collation(oid: pg_sys::Oid) -> Option<(CString, CString)> {
    let read =
        |_, form: &pg_sys::FormData_pg_collation| in_schema(form.collnamespace, &form.collname);
    // SAFETY: as above.
    unsafe { with_row(pg_sys::SysCacheIdentifier::COLLOID, oid, read) }
}

/// The operators = and < of a type's default order; `None` if it has no order.
pub fn of_order(of_type: pg_sys::Oid) -> Option<(pg_sys::Oid, pg_sys::Oid)> {
    // SAFETY: a catalog look-up by the OID of a type that exists; the entry stays for the session.
    unsafe {
        let flags = pg_sys::TYPECACHE_EQ_OPR | pg_sys::TYPECACHE_LT_OPR;
        let entry = &*pg_sys::lookup_type_cache(of_type, flags as i32);
        let is_whole = entry.eq_opr != pg_sys::InvalidOid && entry.lt_opr != pg_sys::InvalidOid;
        is_whole.then_some((entry.eq_opr, entry.lt_opr))
    }
}
