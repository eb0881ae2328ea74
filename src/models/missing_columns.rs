//! The error of a relation that lacks columns by which records are compared.

use base::closest::closest;
use base::Error;
use linkage::model::column_names::may_be_same;
use pg::catalog::{self, quoted_column};
use pg::error::sql_error;
use pg::message::words;
use pg::values::text::{readable, to_database};
use pgrx::{pg_sys, PgSqlErrorCode};
use std::ffi::CString;

/// A name as SQL writes it.
fn quoted(name: &str) -> String {
    let name = CString::new(to_database(name)).unwrap_or_default();
    readable(quoted_column(&name).to_bytes())
}

/// Names as a sentence lists them.
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The error (42703) of a relation that has not all of the columns that are compared. Its hint is a view that renames those
/// that may be the same by their names.
#[cold]
pub fn missing_columns(relation: pg_sys::Oid, compared: &[&str], missing: &[&str]) -> Error {
    let own = catalog::column_names(relation).map(|name| readable(name.to_bytes()));
    let own: Vec<String> = own
        .filter(|name| !compared.contains(&name.as_str()))
        .collect();
    let mut free: Vec<&str> = own.iter().map(String::as_str).collect();
    let (mut columns, mut own_alike) = (String::new(), 0);
    for name in missing {
        let same = free.iter().find(|other| may_be_same(name, other)).copied();
        match same.or_else(|| closest(name, free.iter().copied())) {
            Some(same) => {
                free.retain(|other| *other != same);
                own_alike += 1;
                columns += &format!(", {} AS {}", quoted(same), quoted(name));
            }
            None => columns += &format!(", NULL::text AS {}", quoted(name)),
        }
    }
    let (what, are) = match missing.len() {
        1 => ("column", "does"),
        _ => ("columns", "do"),
    };
    let names = to_database(&listed(missing));
    let message = words!("{what} {names} of relation \"{relation}\" {are} not exist");
    let error = sql_error(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN, message)
        .detail(format!("Records are compared by {}.", listed(compared)));
    if own_alike == 0 && missing.len() == compared.len() {
        return error;
    }
    let view = [catalog::name(relation).to_bytes(), b"_named"].concat();
    let view = quoted(&readable(&view));
    let table = readable(catalog::quoted(relation).to_bytes());
    error.hint(format!(
        "Give them by a view, and take that instead, such as CREATE VIEW {view} AS SELECT *{columns} FROM {table}."
    ))
}
