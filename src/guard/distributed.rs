//! A guard on a table that Citus has distributed. Its trigger runs on the shards and compares the rows of one shard. That is a guard of the
//! whole table if it compares `within` the column by whose hash rows are distributed: rows that are equal in it are in one
//! shard.

use std::ffi::CStr;

use base::{Error, Result};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_FEATURE_NOT_SUPPORTED, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
};

use super::options::GuardOptions;
use pg::error::sql_error;
use pg::message::words;

/// A guard of a table that is distributed by the hash of a column.
///
/// Errors: it would compare rows that are in other shards, or names tables that are not on the nodes with the shards
/// (0A000); Citus does not allow the trigger (55000).
pub fn check(table: pg_sys::Oid, column: &CStr, options: &GuardOptions) -> Result<()> {
    if !options
        .within
        .iter()
        .any(|within| within.as_c_str() == column)
    {
        return Err(refused(table)
            .detail(words!(
                "It is distributed by the hash of column \"{column}\", and rows that are equal in \
                 that column are all that one shard has together."
            ))
            .hint(words!(
                "Take option \"within\" with column \"{column}\", or guard the whole table by \
                 bloom_citus_guard_create() of extension bloom_ident_citus."
            )));
    }
    let tables = [
        ("blocklist", &options.list),
        ("review", &options.review),
        ("skipped", &options.skipped),
        ("decisions", &options.decisions),
        ("register", &options.register),
    ];
    if let Some((name, _)) = tables.iter().find(|(_, given)| given.is_some()) {
        return Err(refused(table)
            .detail(words!(
                "The table of option \"{name}\" would be looked for on each node that has shards."
            ))
            .hint("Leave the option out, or write the trigger yourself, with the name that the table has there."));
    }
    if !may_have_triggers() {
        return Err(sql_error(
            ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            words!("triggers on distributed table \"{table}\" are not allowed"),
        )
        .detail("Citus has them only with its setting citus.enable_unsafe_triggers.")
        .hint("SET citus.enable_unsafe_triggers = on, which a superuser may."));
    }
    Ok(())
}

/// Whether Citus allows triggers on distributed tables.
fn may_have_triggers() -> bool {
    // SAFETY: the value of a setting, which stays until the setting changes; NULL if there is no such setting.
    unsafe {
        let value = pg_sys::GetConfigOption(c"citus.enable_unsafe_triggers".as_ptr(), true, false);
        !value.is_null() && CStr::from_ptr(value) == c"on"
    }
}

fn refused(table: pg_sys::Oid) -> Error {
    sql_error(
        ERRCODE_FEATURE_NOT_SUPPORTED,
        words!("cannot create a guard on distributed table \"{table}\""),
    )
}
