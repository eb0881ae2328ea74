//! Operators by which values of a type are compared, and collations.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

fn schema(namespace: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { super::copy(pg_sys::get_namespace_name(namespace)) }
}

/// Schema and name of an operator.
pub fn named(oid: pg_sys::Oid) -> (CString, CString) {
    // SAFETY: a row of the catalog, if there is one, is as its form says until it is released; what is used of it is
    // copied.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::OPEROID as i32;
        let row = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(oid));
        if row.is_null() {
            return (c"?".to_owned(), c"?".to_owned());
        }
        let form = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_operator>();
        let name = CStr::from_ptr(form.oprname.data.as_ptr()).to_owned();
        let namespace = form.oprnamespace;
        pg_sys::ReleaseSysCache(row);
        (schema(namespace), name)
    }
}

/// Schema and name of a collation; `None` where there is none.
pub fn collation(oid: pg_sys::Oid) -> Option<(CString, CString)> {
    if oid == pg_sys::InvalidOid {
        return None;
    }
    // SAFETY: as above.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::COLLOID as i32;
        let row = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(oid));
        if row.is_null() {
            return None;
        }
        let form = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_collation>();
        let name = CStr::from_ptr(form.collname.data.as_ptr()).to_owned();
        let namespace = form.collnamespace;
        pg_sys::ReleaseSysCache(row);
        Some((schema(namespace), name))
    }
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
