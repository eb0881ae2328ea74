//! Tables that an option of the trigger names.

use base::{Error, Result};
use pg::error::sql_error;
use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use super::partition_tree::lock;
use crate::guard::options::TableName;
use pg::catalog;
use pg::message::words;

/// The table of this name. A name without a schema is looked for in the schema of `near`: the search_path does not
/// decide. `option` is the option that names the table, for messages.
///
/// Errors: there is no such table (42P01).
pub fn find_table(wanted: &TableName, near: pg_sys::Oid, option: &str) -> Result<pg_sys::Oid> {
    // SAFETY: look-ups in the catalogs by OID and by C strings; each gives an invalid OID for what does not exist.
    let (schema, table): (CString, pg_sys::Oid) = unsafe {
        let (schema, space) = match &wanted.schema {
            None => (catalog::schema(near), pg_sys::get_rel_namespace(near)),
            Some(schema) => (
                schema.clone(),
                pg_sys::get_namespace_oid(schema.as_ptr(), true),
            ),
        };
        let table = if space == pg_sys::InvalidOid {
            space
        } else {
            pg_sys::get_relname_relid(wanted.name.as_ptr(), space)
        };
        (schema, table)
    };
    if table == pg_sys::InvalidOid {
        return Err(undefined(&schema, &wanted.name, option));
    }
    Ok(table)
}

fn undefined(schema: &CStr, name: &CStr, option: &str) -> Error {
    sql_error(
        PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
        words!(
            "table \"{}.{}\" of option \"{}\" does not exist",
            schema,
            name,
            option
        ),
    )
}

/// The table of this name, locked. While this waits for the lock, another session may give the name to another table;
/// then that one is locked.
///
/// Errors: as for [`find_table`].
pub fn lock_table(wanted: &TableName, near: pg_sys::Oid, option: &str) -> Result<pg_sys::Oid> {
    let mut table = find_table(wanted, near, option)?;
    loop {
        lock(table);
        let now = find_table(wanted, near, option)?;
        if now == table {
            return Ok(table);
        }
        table = now;
    }
}
