//! Only what is new: pairs of which one record at least is among given ones, such as those of the last day. Where there
//! is an index, each of the new records is searched in it; otherwise all records are read once, and compared with the
//! new ones.

mod by_index;
mod probes;
mod refresh;

use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::records::{is_text, lock, RecordColumn};
use crate::pairs::unique::has_equality;
use pg::catalog::{self, is_of_server};
use pg::error::{raise, sql_error};
use pg::function::arguments::Arguments;
use pg::session::{read, Session};
use pg::sql;
use pg::sql::Sql;

pub use by_index::{pairs as indexed_pairs, unindexed_side};

/// A relation that names the new records by their keys, as text, in column `key`. It is locked until the end of the
/// transaction.
#[derive(Clone)]
pub struct NewRecords {
    oid: pg_sys::Oid,
    /// For messages.
    name: String,
}

/// The relation that argument `i` names; `None` for NULL.
///
/// Errors: as [`NewRecords::lock`].
pub fn given(arguments: Arguments, i: usize) -> Option<NewRecords> {
    arguments.datum(i)?;
    Some(NewRecords::lock(arguments.oid(i)))
}

impl NewRecords {
    /// Errors: no relation with rows; the caller may not read it; no column `key` (42703), or one of another type
    /// (42804).
    pub fn lock(oid: pg_sys::Oid) -> NewRecords {
        let name = lock(oid);
        let Ok(key) = RecordColumn::find(oid, CString::from(c"key")) else {
            raise(&sql_error(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN, format!("relation \"{name}\" does not have \
                the column key"),
                )
                .hint(
                    "Give a table or view with the keys of the records, such as CREATE VIEW ... AS SELECT \
                     id::text AS key FROM ...",
                ),
            );
        };
        if !is_text(key.type_oid) {
            let hint = "Give a view with the keys as text, such as CREATE VIEW ... AS SELECT id::text AS key FROM ...";
            key.refuse_type(&name, "text", hint);
        }
        NewRecords { oid, name }
    }

    /// Errors: a key is null (22004); as a query of the caller's.
    pub fn check(&self) {
        let sql = sql!("SELECT true FROM {self.oid} WHERE key IS NULL LIMIT 1");
        read(sql, &[], 1).each(|_| {
            let message = format!("key of a record in \"{}\" is null", self.name);
            raise(
                &sql_error(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message)
                    .hint("Give a view that leaves such rows out."),
            );
        });
    }

    /// How many there are, in a query of the caller's.
    pub fn count(&self) -> u64 {
        let sql = sql!("SELECT pg_catalog.count(*) FROM {self.oid}");
        Session::begin(true).number(&sql, &[]) as u64
    }

    /// Selects the keys as they can be compared with a column of the records, each once, under a name.
    fn keys(&self, key: &RecordColumn, name: &str) -> Sql {
        let key = comparable(key, "key");
        sql!("SELECT DISTINCT {key} AS {name} FROM {self.oid} WHERE key IS NOT NULL")
    }

    /// Of the records of a relation, which is called r, whether they are among the new ones.
    pub fn has(&self, key: &RecordColumn) -> Sql {
        let (compared, keys) = (compared(key), self.keys(key, "key"));
        sql!("{compared} ANY ({keys})")
    }

    /// Joins a relation, which is called r, with the new keys, which are a column of n with this name, and NULL for
    /// other records.
    pub fn joined(&self, key: &RecordColumn, name: &str) -> Sql {
        let (compared, keys) = (compared(key), self.keys(key, name));
        sql!(" LEFT JOIN ({keys}) AS n ON {compared} n.{name}")
    }
}

/// Of the records of a relation, which is called r, whether their keys are in an array of texts, which is the
/// statement's first argument.
pub fn among(key: &RecordColumn) -> Sql {
    let (compared, given) = (compared(key), comparable(key, "u.key"));
    sql!("{compared} ANY (SELECT {given} FROM pg_catalog.unnest($1) AS u (key))")
}

/// Whether keys are compared as values; otherwise as text.
fn is_by_value(key: &RecordColumn) -> bool {
    is_of_server(key.type_oid) && has_equality(key)
}

/// The key of a record in text form, which SQL calls `text`, as it can be compared: as a value of the records' type, so
/// that an index finds it, unless users may have made a cast of this type, or it has no equality.
fn comparable(key: &RecordColumn, text: &str) -> Sql {
    if !is_by_value(key) {
        return sql!("CAST({text} AS pg_catalog.text) COLLATE pg_catalog.\"C\"");
    }
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(key.type_oid) };
    let (schema, name) = catalog::type_itself(base);
    sql!("CAST({text} AS {schema}.{name})").collate(key.collation)
}

/// A record's key and the operator that compares it.
fn compared(key: &RecordColumn) -> Sql {
    let text = "pg_catalog.format('%s', r.{}) COLLATE pg_catalog.\"C\" OPERATOR(pg_catalog.=)";
    let value = "r.{} OPERATOR(pg_catalog.=)";
    Sql::with(if is_by_value(key) { value } else { text }, &[&key.name])
}

/// The numbers of the records of a pair that the new records, of which the first is one, and all records make; `None`
/// if it is no pair, or comes a second time. See [`numbered`].
pub fn pair_of(new: u64, other: u64) -> Option<(u64, u64)> {
    let (a, b, is_new) = (new >> 1, other >> 1, other & 1 == 1);
    (a != b && !(is_new && a > b)).then_some((a, b))
}

/// The number that stands for a record where all records are compared with new ones.
pub fn numbered(record: u64, is_new: bool) -> u64 {
    record << 1 | u64::from(is_new)
}
