//! Relations that are known by their columns: pairs, labels, decisions.

use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::records::RecordColumn;
use pg::error::{raise, sql_error};

/// Whether a locked relation has columns of these names.
pub fn has(oid: pg_sys::Oid, columns: &[&CStr]) -> bool {
    let mut columns = columns.iter();
    columns.all(|&column| RecordColumn::find(oid, CString::from(column)).is_ok())
}

/// Fails the statement with 42703: a relation has not the columns that are expected.
pub fn refuse(name: &str, expected: &str) -> ! {
    raise(&sql_error(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN, format!("relation \"{name}\" does not have the \
        columns {expected}"),
        )
        .hint("Give a table or view with columns of these names, such as CREATE VIEW ... AS SELECT x AS a, y AS b, ... \
             FROM ..."),
    )
}
