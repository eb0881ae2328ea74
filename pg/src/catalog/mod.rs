//! Look-ups in the catalogs: names, as they are and as SQL writes them; whose they are; where rows are stored.
//!
//! A look-up of something that does not exist gives `?`, kind 0 or InvalidOid, since others may drop it meanwhile.

use crate::error::sql_error;
use base::{Error, Result};
use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::message::words;
use crate::values::text::readable;
use crate::values::varlena::Varlena;

pub mod changes;
pub mod generated;
pub mod named;
pub mod operators;
pub mod privileges;
pub mod storage;

/// # Safety
/// `string` is a C string of the server's, or NULL.
unsafe fn copy(string: *const std::ffi::c_char) -> CString {
    if string.is_null() {
        return c"?".to_owned();
    }
    // SAFETY: the string ends with a zero byte, and is copied at once.
    unsafe { CStr::from_ptr(string) }.to_owned()
}

/// The name of a relation.
pub fn name(relation: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::get_rel_name(relation)) }
}

/// The name of a relation's schema.
pub fn schema(relation: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    name_of_schema(unsafe { pg_sys::get_rel_namespace(relation) })
}

fn name_of_schema(oid: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::get_namespace_name(oid)) }
}

/// Whether texts that are equal by a collation have the same bytes. So they have without a collation.
pub fn is_deterministic(collation: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up by OID.
    collation == pg_sys::InvalidOid || unsafe { pg_sys::get_collation_isdeterministic(collation) }
}

/// What `read` copies of the row that a cache of the catalogs has of an OID; `None` if there is none.
///
/// # Safety
/// An OID is the only key of the cache, and its rows have this form.
pub unsafe fn with_row<F, T>(
    cache: pg_sys::SysCacheIdentifier::Type,
    oid: pg_sys::Oid,
    read: impl FnOnce(pg_sys::HeapTuple, &F) -> T,
) -> Option<T> {
    // SAFETY: the row is as the caller says, and stays until it is released.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache as i32, pg_sys::Datum::from(oid));
        if row.is_null() {
            return None;
        }
        let value = read(row, &*pg_sys::GETSTRUCT(row).cast::<F>());
        pg_sys::ReleaseSysCache(row);
        Some(value)
    }
}

/// The schema and the name of something.
fn in_schema(namespace: pg_sys::Oid, name: &pg_sys::NameData) -> (CString, CString) {
    // SAFETY: a name of a catalog ends with a zero byte.
    let name = unsafe { copy(name.data.as_ptr()) };
    (name_of_schema(namespace), name)
}

/// Those of what does not exist.
fn unknown() -> (CString, CString) {
    (c"?".to_owned(), c"?".to_owned())
}

/// The schema and the name of a type, as the catalog has it: what SQL writes for it can be of another length, such as
/// `character`.
pub fn type_itself(oid: pg_sys::Oid) -> (CString, CString) {
    let read = |_, form: &pg_sys::FormData_pg_type| in_schema(form.typnamespace, &form.typname);
    // SAFETY: the cache is by OID, and has rows of this form.
    let found = unsafe { with_row(pg_sys::SysCacheIdentifier::TYPEOID, oid, read) };
    found.unwrap_or_else(unknown)
}

/// The name of a function's schema.
pub fn schema_of_function(function: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    name_of_schema(unsafe { pg_sys::get_func_namespace(function) })
}

/// The language C in pg_language, whose OID is the same everywhere.
const LANGUAGE_C: pg_sys::Oid = pg_sys::Oid::from_u32(13);

/// Whether a function is this one of a library, as only a superuser can declare it.
pub fn is_of_library(function: pg_sys::Oid, symbol: &CStr) -> bool {
    let cache = pg_sys::SysCacheIdentifier::PROCOID;
    let is_it = |row, form: &pg_sys::FormData_pg_proc| {
        let mut is_null = false;
        // SAFETY: a column of a row of this cache, which is a text.
        let source = unsafe {
            let column = pg_sys::Anum_pg_proc_prosrc as i16;
            pg_sys::SysCacheGetAttr(cache as i32, row, column, &mut is_null)
        };
        // SAFETY: as above.
        let is_named = || unsafe { Varlena::new(source) }.bytes() == symbol.to_bytes();
        form.prolang == LANGUAGE_C && !is_null && is_named()
    };
    // SAFETY: the cache is by OID, and has rows of this form.
    unsafe { with_row(cache, function, is_it) }.unwrap_or(false)
}

/// Whether rights on a function have been granted or revoked, so that not everybody may call it.
fn has_own_privileges(function: pg_sys::Oid) -> bool {
    let cache = pg_sys::SysCacheIdentifier::PROCOID;
    let has = |row, _: &pg_sys::FormData_pg_proc| {
        let (column, mut is_null) = (pg_sys::Anum_pg_proc_proacl as i16, false);
        // SAFETY: a column of a row of this cache.
        unsafe { pg_sys::SysCacheGetAttr(cache as i32, row, column, &mut is_null) };
        !is_null
    };
    // SAFETY: the cache is by OID, and has rows of this form.
    unsafe { with_row(cache, function, has) }.unwrap_or(true)
}

/// `schema.name` as SQL writes it.
pub fn quoted(relation: pg_sys::Oid) -> CString {
    quoted_name(&schema(relation), &name(relation))
}

/// The same of anything that is in a schema.
pub fn quoted_name(schema: &CStr, name: &CStr) -> CString {
    // SAFETY: two C strings.
    unsafe {
        copy(pg_sys::quote_qualified_identifier(
            schema.as_ptr(),
            name.as_ptr(),
        ))
    }
}

/// An identifier as SQL writes it.
pub fn quoted_column(name: &CStr) -> CString {
    // SAFETY: a C string.
    unsafe { copy(pg_sys::quote_identifier(name.as_ptr())) }
}

/// The kind of a relation, such as RELKIND_INDEX.
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

/// The names of all columns, in their order.
pub fn column_names(relation: pg_sys::Oid) -> impl Iterator<Item = CString> {
    // SAFETY: a catalog look-up that may miss, and what it gives is copied at once.
    let name = move |number| unsafe {
        let name = pg_sys::get_attname(relation, number, true);
        (!name.is_null()).then(|| (number, copy(name)))
    };
    // Those that were dropped have a row, but are not found by their name.
    let is_there = move |(number, name): (i16, CString)| {
        (column(relation, &name) == Some(number)).then_some(name)
    };
    (1..).map_while(name).filter_map(is_there)
}

/// The error of a column that does not exist (42703), which says the one that was perhaps meant.
#[cold]
pub fn no_column(relation: pg_sys::Oid, name: &CStr) -> Error {
    let names = column_names(relation).map(|name| readable(name.to_bytes()));
    sql_error(
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        words!("column \"{name}\" of relation \"{relation}\" does not exist"),
    )
    .perhaps("column", &readable(name.to_bytes()), names)
}

/// The type of a column.
pub fn column_type(relation: pg_sys::Oid, column: i16) -> pg_sys::Oid {
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::get_atttype(relation, column) }
}

/// The type of a column, or that of which it is a domain, with its modifier, which is negative where there is none.
pub fn base_type(relation: pg_sys::Oid, column: i16) -> (pg_sys::Oid, i32) {
    let (mut of_type, mut typmod, mut collation) = (pg_sys::InvalidOid, -1, pg_sys::InvalidOid);
    // SAFETY: the column exists; variables are given for its properties.
    unsafe {
        pg_sys::get_atttypetypmodcoll(relation, column, &mut of_type, &mut typmod, &mut collation);
        let base = pg_sys::getBaseTypeAndTypmod(of_type, &mut typmod);
        (base, typmod)
    }
}

/// The name of a type as people write it, with its modifier.
pub fn modified_type(of_type: pg_sys::Oid, modifier: i32) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::format_type_with_typemod(of_type, modifier)) }
}

/// The name of a column.
pub fn column_name(relation: pg_sys::Oid, column: i16) -> CString {
    // SAFETY: a catalog look-up that may miss.
    unsafe { copy(pg_sys::get_attname(relation, column, true)) }
}

/// Whether a type came with the server, so that nobody but a superuser can have made a cast of it: what a user's cast
/// does, it does as the one who reads the values. A domain is as the type that it is of.
pub fn is_of_server(of_type: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up of a type that exists.
    unsafe { pg_sys::getBaseType(of_type) }.to_u32() < pg_sys::FirstNormalObjectId
}

/// The name of a type as people write it.
pub fn type_name(of_type: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::format_type_be(of_type)) }
}

/// The name of a type with its schema, as SQL writes it.
pub fn qualified_type(of_type: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::format_type_be_qualified(of_type)) }
}

/// The same of exactly this type, without a modifier: `character` would be one of a single character.
pub fn exact_type(of_type: pg_sys::Oid) -> CString {
    exact_modified_type(of_type, -1)
}

/// The same with a modifier, if that is not negative.
pub fn exact_modified_type(of_type: pg_sys::Oid, modifier: i32) -> CString {
    let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
    // SAFETY: a catalog look-up by OID.
    unsafe {
        copy(pg_sys::format_type_extended(
            of_type,
            modifier,
            flags as pg_sys::bits16,
        ))
    }
}

/// The name of an access method.
pub fn access_method(method: pg_sys::Oid) -> CString {
    // SAFETY: a catalog look-up by OID.
    unsafe { copy(pg_sys::get_am_name(method)) }
}

/// Errors: there is no relation of this OID (42P01).
pub fn check_exists(relation: pg_sys::Oid) -> Result<()> {
    if kind(relation) != 0 {
        return Ok(());
    }
    let oid = relation.to_u32().to_string();
    Err(sql_error(
        PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
        words!("relation with OID {oid} does not exist"),
    ))
}
