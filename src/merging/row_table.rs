//! Tables whose rows are found by their primary keys.

use std::ffi::CString;

use pgrx::pg_sys;

use super::references::{name_of, oid};
use super::subject::{columns_of, text, TableColumn};
use super::texts::{self, json, key_is};
use pg::catalog;
use pg::session::Session;
use pg::sql;
use pg::sql::Sql;

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
}
