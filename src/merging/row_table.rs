//! Tables whose rows are found by their primary keys.

use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use super::references::{name_of, oid};
use super::subject::{columns_of, text, TableColumn};
use super::texts::{self, exactly, json, key_is, value, values};
use pg::error::{raise, sql_error, OrRaise};
use pg::session::{KeptRows, Session};
use pg::sql::Sql;
use pg::{catalog, relation, sql};

/// A table whose rows are redirected, dropped or restored.
pub struct RowTable {
    pub oid: pg_sys::Oid,
    /// For messages.
    pub name: String,
    /// None if the current user may not even read the table.
    pub columns: Vec<TableColumn>,
    /// The columns of its primary key; none if it has none.
    pub key: Vec<CString>,
}

impl RowTable {
    /// A table, which is locked if its columns are to be known.
    pub fn new(table: pg_sys::Oid, is_locked: bool, session: &Session) -> RowTable {
        let of_table = oid(table);
        let query = sql!(
            "SELECT a.attname FROM pg_catalog.pg_index AS i \
            CROSS JOIN LATERAL pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (number, place) \
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid \
            AND a.attnum OPERATOR(pg_catalog.=) k.number \
            WHERE i.indisprimary AND k.place OPERATOR(pg_catalog.<=) i.indnkeyatts \
            AND i.indrelid OPERATOR(pg_catalog.=) {of_table} ORDER BY k.place"
        );
        let mut key = Vec::new();
        session.each(&query, &[], |row| key.push(name_of(row, 0)));
        RowTable {
            oid: table,
            name: text(&catalog::name(table)),
            columns: match is_locked {
                true => columns_of(table),
                false => Vec::new(),
            },
            key,
        }
    }

    /// The columns of the primary key.
    pub fn key_columns(&self) -> impl Iterator<Item = &TableColumn> {
        let column = |name: &CString| self.columns.iter().find(|column| column.name == *name);
        self.key.iter().filter_map(column)
    }

    /// The table as the target of a statement, or after FROM.
    pub fn only(&self) -> Sql {
        Sql::new("").only(self.oid)
    }

    /// A row under an alias, as one value.
    pub fn row(&self, alias: &str) -> Sql {
        texts::row(alias, self.oid)
    }

    /// The text form of a row's primary key; `row` is an alias, or a row in parentheses.
    pub fn key_text(&self, row: &str) -> Sql {
        let key = Sql::join(self.key.iter().map(|name| sql!("{row}.{name}")), ", ");
        match self.key.len() {
            1 => sql!("pg_catalog.format('%s', {key})"),
            _ => sql!("pg_catalog.format('%s', ROW({key}))"),
        }
    }

    /// The members of a row's object of texts that are the primary key.
    pub fn own_key(&self, row: &str) -> Sql {
        let own = self.columns.iter();
        json(row, own.filter(|column| self.key.contains(&column.name)))
    }

    /// A query of changed rows as they are now, as triggers after the change have left them: `now`, after some columns
    /// of the table `u` of what was changed, which has each row as the change has given it.
    pub fn now(&self, changed: &str, columns: &str) -> Sql {
        let (row, only) = (self.row("c"), self.only());
        let is_it = key_is("c", self.key_columns(), |column| {
            sql!("(u.given).{column.name}")
        });
        sql!(
            "SELECT {columns}, COALESCE({row}, u.given) AS now FROM {changed} AS u LEFT JOIN {only} AS c ON {is_it}"
        )
    }

    // Tables in which rows are restored: their rows are found again by the primary keys that entries have.

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
                let (column, table) = (text(name), &self.name);
                let message =
                    format!("column \"{column}\" of table \"{table}\" does not exist any more");
                raise(
                    &sql_error(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN, message).detail(
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
