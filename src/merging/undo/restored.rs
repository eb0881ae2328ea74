//! Tables in which rows are restored.

use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::merging::child::primary_key;
use crate::merging::subject::{columns_of, refuse, text, TableColumn};
use crate::merging::texts::{self, exactly, values};
use pg::catalog;
use pg::relation;
use pg::session::{KeptRows, Session};
use pg::sql::Sql;

/// A table in which rows are restored.
pub struct RestoredTable {
    pub oid: pg_sys::Oid,
    pub name: String,
    pub columns: Vec<TableColumn>,
    pub key: Vec<CString>,
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

    /// Columns of these names.
    pub fn columns_named(&self, names: &[CString]) -> Vec<&TableColumn> {
        names.iter().map(|name| self.column(name)).collect()
    }

    /// The rows whose primary keys an object of texts of a store has: `tag` of the store, and the row as `c`. The keys
    /// are read by the functions of their types.
    pub fn rows<'a>(
        &self,
        session: &'a Session,
        store: &str,
        object: &str,
        tag: &str,
        lock: bool,
    ) -> KeptRows<'a> {
        if self.key.is_empty() {
            refuse(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("table \"{}\" has no primary key any more", self.name),
                "Rows that were redirected are found by it.",
                "Add the primary key again.",
            );
        }
        let keys = self.keys(session, store, object, tag);
        if lock {
            let lock = self
                .found(Sql::new("SELECT pg_catalog.count(*) FROM (SELECT FROM "))
                .text(" ORDER BY v.name COLLATE pg_catalog.\"C\" FOR UPDATE OF c) AS q");
            session.number(&lock, &[]);
        }
        let query = self.found(
            Sql::new("SELECT v.tag, ")
                .sql(&texts::row("c", self.oid))
                .text(" AS c FROM "),
        );
        let rows = session.keep(c"bloom_unmerge_rows", &query, &[]);
        drop(keys);
        rows
    }

    fn found(&self, sql: Sql) -> Sql {
        sql.text("bloom_unmerge_keys AS v JOIN ")
            .only(self.oid)
            .text(" AS c ON ")
            .sql(&self.key_is("c", "v"))
    }

    /// The primary keys that an object of a store has: `tag`, their columns under their names as `k0` ..., and `name`,
    /// the object as text.
    fn keys<'a>(&self, session: &'a Session, store: &str, object: &str, tag: &str) -> KeptRows<'a> {
        let key = self.columns_named(&self.key);
        let query = Sql::new(&format!(
            "SELECT s.{tag} AS tag, pg_catalog.format('%s', s.{object}) AS name"
        ))
        .sql(&self.key_values("v"))
        .text(&format!(" FROM {store} AS s CROSS JOIN LATERAL "))
        .sql(&values(&format!("s.{object}"), "v", &key));
        exactly(|| session.keep(c"bloom_unmerge_keys", &query, &[]))
    }

    /// What of `v`, which [`values`] reads, is the primary key: `k0` ...
    pub fn key_values(&self, alias: &str) -> Sql {
        let key = self.key.iter().map(|name| self.column(name)).enumerate();
        key.fold(Sql::new(""), |sql, (i, column)| {
            sql.text(", ")
                .sql(&texts::value(alias, column))
                .text(&format!(" AS k{i}"))
        })
    }

    /// The condition that a row under an alias has the primary key `k0` ... of another.
    pub fn key_is(&self, alias: &str, other: &str) -> Sql {
        texts::key_is(alias, &self.columns, &self.key, |column| {
            let place = self.key.iter().position(|name| *name == column.name);
            Sql::new(&format!("{other}.k{}", place.unwrap_or(0)))
        })
    }

    pub fn key_text(&self, row: &str) -> Sql {
        texts::key_text(row, &self.key)
    }

    pub fn own_key(&self, row: &str) -> Sql {
        texts::json(row, texts::named(&self.columns, &self.key))
    }
}
