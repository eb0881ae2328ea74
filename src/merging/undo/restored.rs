//! Tables in which rows are restored, and values that were written as texts.

use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::merging::audit::json;
use crate::merging::child::primary_key;
use crate::merging::subject::{columns_of, refuse, text, TableColumn};
use crate::pg::catalog;
use crate::pg::catalog::operators;
use crate::pg::relation;
use crate::pg::session::Session;
use crate::pg::sql::Sql;

/// A table in which rows are restored.
pub struct RestoredTable {
    pub oid: pg_sys::Oid,
    pub name: String,
    pub columns: Vec<TableColumn>,
    pub key: Vec<CString>,
}

/// A value of an object of texts.
pub fn member(object: &str, name: &CString) -> Sql {
    Sql::new("(")
        .text(object)
        .text(" OPERATOR(pg_catalog.->>) ")
        .literal(name)
        .text("::pg_catalog.text)")
}

/// The same as a value of a column.
pub fn cast(object: &str, column: &TableColumn) -> Sql {
    Sql::new("CAST(")
        .sql(&member(object, &column.name))
        .text(" AS ")
        .exact_type(column.store.type_oid)
        .text(")")
}

/// Some members of an object of texts.
pub fn picked(object: &str, names: &[CString]) -> Sql {
    Sql::new("pg_catalog.jsonb_object(ARRAY[")
        .list(names, |sql, name| {
            sql.literal(name).text(", ").sql(&member(object, name))
        })
        .text("]::pg_catalog.text[])")
}

impl RestoredTable {
    pub fn of(oid: pg_sys::Oid, session: &Session) -> RestoredTable {
        catalog::check_exists(oid).unwrap_or_else(|message| message.raise());
        relation::lock(oid, pg_sys::RowExclusiveLock);
        catalog::check_exists(oid).unwrap_or_else(|message| message.raise());
        RestoredTable {
            oid,
            name: text(&catalog::name(oid)),
            columns: columns_of(oid),
            key: primary_key(oid, session),
        }
    }

    pub fn column(&self, name: &CString) -> &TableColumn {
        let found = self.columns.iter().find(|column| column.name == *name);
        found.unwrap_or_else(|| {
            refuse(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "column \"{}\" of table \"{}\" does not exist any more",
                    text(name),
                    self.name
                ),
                "A merge cannot be taken back without the columns that it has changed.",
                "",
            )
        })
    }

    /// The condition that a row under an alias has the primary key of an object.
    pub fn key_is(&self, alias: &str, object: &str) -> Sql {
        let parts = self.key.iter().map(|name| self.column(name));
        parts.enumerate().fold(Sql::new(""), |sql, (i, column)| {
            // SAFETY: a catalog look-up of a type that exists.
            let base = unsafe { pg_sys::getBaseType(column.store.type_oid) };
            let equal = operators::of_order(base).map_or(pg_sys::InvalidOid, |(equal, _)| equal);
            let value = Sql::new("CAST(")
                .sql(&member(object, &column.name))
                .text(" AS ")
                .exact_type(base)
                .text(")");
            sql.text(if i > 0 { " AND " } else { "" })
                .text(alias)
                .text(".")
                .name(&column.name)
                .text(" ")
                .operator(equal)
                .text(" ")
                .sql(&value)
                .collate(column.store.collation)
        })
    }

    pub fn key_text(&self, alias: &str) -> Sql {
        let column = |sql: Sql, name: &CString| sql.text(alias).text(".").name(name);
        let sql = Sql::new("pg_catalog.format('%s', ");
        match &self.key[..] {
            [one] => column(sql, one).text(")"),
            several => sql.text("ROW(").list(several, column).text("))"),
        }
    }

    pub fn own_key(&self, alias: &str) -> Sql {
        json(alias, self.key.iter().map(CString::as_c_str))
    }
}
