//! The columns in which records must be equal.

use std::ffi::CString;

use base::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::records::{RecordColumn, Records};
use pg::catalog;
use pg::error::raise_as;
use pg::function::arguments::Arguments;
use pg::values::text::readable;

fn fail(code: PgSqlErrorCode, error: Error) -> ! {
    raise_as(code, &error)
}

fn error(message: String) -> Error {
    Error::new(ErrorKind::InvalidParameter, message)
}

/// The names that argument `i` gives, a name[]; `None` for NULL.
///
/// Errors: a NULL among them (22004), no names (22023), or one that comes twice (42701).
pub fn given(arguments: Arguments, i: usize) -> Option<Vec<CString>> {
    arguments.datum(i)?;
    let names = arguments.names(i);
    check(&names);
    Some(names)
}

fn check(names: &[CString]) {
    if names.is_empty() {
        let none = error("argument \"within\" names no column".into());
        let hint = "Leave the argument out to compare all records with each other.";
        fail(
            PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            none.hint(hint),
        );
    }
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            let name = readable(name.to_bytes());
            fail(
                PgSqlErrorCode::ERRCODE_DUPLICATE_COLUMN,
                error(format!(
                    "column \"{name}\" is named twice in argument \"within\""
                )),
            );
        }
    }
}

/// A column of a relation, whose name is `relation` in messages.
///
/// Errors: no such column (42703); a signature of the records (42P10); a type without a default order (42883).
pub fn column(records: &Records, name: CString, relation: &str) -> RecordColumn {
    let column = RecordColumn::of(records.oid, name, relation);
    let shown = readable(column.name.to_bytes());
    if records.signatures.iter().any(|s| s.name == column.name) {
        fail(
            PgSqlErrorCode::ERRCODE_INVALID_COLUMN_REFERENCE,
            error(format!(
                "argument \"within\" cannot name signature column \"{shown}\" of relation \"{relation}\""
            )),
        );
    }
    let flags = (pg_sys::TYPECACHE_LT_OPR | pg_sys::TYPECACHE_CMP_PROC) as i32;
    // SAFETY: a column of a locked relation has a type; entries of the type cache are never freed.
    let has_order = unsafe {
        let entry = pg_sys::lookup_type_cache(column.type_oid, flags);
        (*entry).lt_opr != pg_sys::InvalidOid && (*entry).cmp_proc != pg_sys::InvalidOid
    };
    if !has_order {
        let name = catalog::type_name(column.type_oid);
        fail(
            PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION,
            error(format!(
                "could not identify an ordering operator for type {}",
                readable(name.to_bytes())
            ))
            .detail(format!(
                "Argument \"within\" names column \"{shown}\" of relation \"{relation}\"."
            )),
        );
    }
    column
}
