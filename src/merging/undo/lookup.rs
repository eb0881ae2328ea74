//! Tables in which rows are restored: their rows are found again by the primary keys that entries have.

use pg::error::{raise, sql_error, OrRaise};
use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::merging::row_table::RowTable;
use crate::merging::subject::{text, TableColumn};
use crate::merging::texts::{exactly, key_is, value, values};
use pg::catalog;
use pg::relation;
use pg::session::{KeptRows, Session};
use pg::sql;
use pg::sql::Sql;

impl RowTable {
    /// A table in which rows are restored, locked until the end of the transaction.
    pub fn restored(oid: pg_sys::Oid, session: &Session) -> RowTable {
        catalog::check_exists(oid).or_raise();
        relation::lock(oid, pg_sys::RowExclusiveLock);
        catalog::check_exists(oid).or_raise();
        RowTable::new(oid, true, session)
    }

    /// Columns of these names.
    ///
    /// Errors: one of them is gone.
    pub fn columns_named(&self, names: &[CString]) -> Vec<&TableColumn> {
        let column = |name: &CString| {
            let found = self.columns.iter().find(|column| column.name == *name);
            found.unwrap_or_else(|| {
                raise(
                    &sql_error(
                        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                        format!(
                            "column \"{}\" of table \"{}\" does not exist any more",
                            text(name),
                            self.name
                        ),
                    )
                    .detail(
                        "A merge cannot be taken back without the columns that it has changed.",
                    ),
                )
            })
        };
        names.iter().map(column).collect()
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
            raise(
                &sql_error(
                    PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("table \"{}\" has no primary key any more", self.name),
                )
                .detail("Rows that were redirected are found by it.")
                .hint("Add the primary key again."),
            );
        }
        // The primary keys under their names as `k0` ..., and the object as text.
        let read = values(&format!("s.{object}"), "v", &self.columns_named(&self.key));
        let key = self.key_values("v");
        let keys = sql!(
            "SELECT s.{tag} AS tag, pg_catalog.format('%s', s.{object}) AS name{key} \
            FROM {store} AS s CROSS JOIN LATERAL {read}"
        );
        let _keys = exactly(|| session.keep(c"bloom_unmerge_keys", &keys, &[]));
        let (only, row, is_it) = (self.only(), self.row("c"), self.has_key("c", "v"));
        let found = sql!("FROM bloom_unmerge_keys AS v JOIN {only} AS c ON {is_it}");
        if lock {
            let lock = sql!(
                "SELECT pg_catalog.count(*) FROM (SELECT {found} \
                ORDER BY v.name COLLATE pg_catalog.\"C\" FOR UPDATE OF c) AS q"
            );
            session.number(&lock, &[]);
        }
        let query = sql!("SELECT v.tag, {row} AS c {found}");
        session.keep(c"bloom_unmerge_rows", &query, &[])
    }

    /// What of rows under an alias, which [`values`] reads, is the primary key: `k0` ...
    pub fn key_values(&self, alias: &str) -> Sql {
        let key = self.columns_named(&self.key).into_iter().enumerate();
        let key = key.map(|(i, column)| {
            let value = value(alias, column);
            sql!(", {value} AS k{i}")
        });
        Sql::join(key, "")
    }

    /// The condition that a row under an alias has the primary key `k0` ... of another.
    pub fn has_key(&self, alias: &str, other: &str) -> Sql {
        let mut places = 0usize..;
        key_is(alias, self.key_columns(), |_| {
            let place = places.next().unwrap_or(0);
            sql!("{other}.k{place}")
        })
    }
}
