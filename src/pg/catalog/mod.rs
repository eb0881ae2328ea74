//! Look-ups in the catalogs: names of tables and columns, as they are and as SQL writes them, and who may read them.

use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pg::message::{words, Message, OrMessage};

pub mod privileges;
pub mod storage;

pub use privileges::{has_policies_for, is_owner, may_select, may_use_schema};

/// SAFETY: `string` is a C string of the server's, or NULL.
unsafe fn copy(string: *const std::ffi::c_char) -> CString {
    if string.is_null() {
        return c"?".to_owned();
    }
    // SAFETY: as promised by the caller.
    unsafe { CStr::from_ptr(string) }.to_owned()
}

/// `?` for one that does not exist.
pub fn name(relation: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::get_rel_name(relation)) }
}

pub fn schema(relation: pg_sys::Oid) -> CString {
    // SAFETY: catalog look-ups by OID.
    unsafe {
        copy(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(
            relation,
        )))
    }
}

pub fn schema_of_function(function: pg_sys::Oid) -> CString {
    // SAFETY: catalog look-ups by OID.
    unsafe {
        copy(pg_sys::get_namespace_name(pg_sys::get_func_namespace(
            function,
        )))
    }
}

/// `schema.name` as SQL writes it.
pub fn quoted(relation: pg_sys::Oid) -> CString {
    quoted_name(&schema(relation), &name(relation))
}

pub fn quoted_name(schema: &CStr, name: &CStr) -> CString {
    // SAFETY: two C strings.
    unsafe {
        copy(pg_sys::quote_qualified_identifier(
            schema.as_ptr(),
            name.as_ptr(),
        ))
    }
}

pub fn quoted_column(name: &CStr) -> CString {
    // SAFETY: a C string.
    unsafe { copy(pg_sys::quote_identifier(name.as_ptr())) }
}

pub fn kind(relation: pg_sys::Oid) -> u8 {
    // SAFETY: a catalog look-up by OID.
    unsafe { pg_sys::get_rel_relkind(relation) as u8 }
}

/// The number of a column; `None` if there is none of this name, or it is a system column.
pub fn column(relation: pg_sys::Oid, name: &CStr) -> Option<i16> {
    // SAFETY: a catalog look-up.
    let number = unsafe { pg_sys::get_attnum(relation, name.as_ptr()) };
    (number > 0).then_some(number)
}

pub fn column_type(relation: pg_sys::Oid, column: i16) -> pg_sys::Oid {
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::get_atttype(relation, column) }
}

pub fn column_name(relation: pg_sys::Oid, column: i16) -> CString {
    // SAFETY: a catalog look-up that may miss.
    unsafe { copy(pg_sys::get_attname(relation, column, true)) }
}

pub fn type_name(of_type: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::format_type_be(of_type)) }
}

/// With its schema, as SQL writes it.
pub fn qualified_type(of_type: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::format_type_be_qualified(of_type)) }
}

pub fn access_method(method: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::get_am_name(method)) }
}

/// Errors: there is no relation of this OID (42P01).
pub fn check_exists(relation: pg_sys::Oid) -> OrMessage<()> {
    if kind(relation) != 0 {
        return Ok(());
    }
    let oid = relation.to_u32().to_string();
    Err(Message::of(
        PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
        words!("relation with OID ", oid, " does not exist"),
    ))
}
