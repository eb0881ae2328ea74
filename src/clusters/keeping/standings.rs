//! What counts of each record of clusters: its place by a column, and how many values it has.

use std::ffi::CStr;

use linkage::merging::{KeepBy, Standing};
use pgrx::pg_sys;

use super::keyed_relation::{KeyedRelation, TableColumn};
use pg::session::QueryRow;
use pg::sql;
use pg::sql::Sql;
use pg::values::varlena::Varlena;

/// Columns of the query before those of the record.
const BEFORE: usize = 6;

/// How the records of clusters are looked at.
pub struct Standings<'a> {
    /// The columns whose values count.
    columns: Vec<&'a TableColumn>,
    query: Sql,
}

impl<'a> Standings<'a> {
    /// The column of what `found` has as `label`.
    pub const LABEL: usize = 1;
    /// The column of what `found` has as `key`.
    pub const KEY: usize = 2;

    /// `found` is a table with columns `no` (the cluster's number), `label`, `key` and `preferred`; `matches` tells
    /// which record `r` a row `f` of it is.
    pub fn new(
        relation: &'a KeyedRelation,
        by: &KeepBy,
        found: &CStr,
        matches: &Sql,
    ) -> Standings<'a> {
        let columns = counted(relation, by);
        let rank = match by.column() {
            None => Sql::new("1::pg_catalog.int8"),
            Some((column, greatest)) => {
                let column = &relation.columns[relation.column(column)].name;
                let order = if greatest { " DESC" } else { "" };
                sql!("pg_catalog.rank() OVER (PARTITION BY f.no ORDER BY r.{column}{order} NULLS LAST)")
            }
        };
        let values = columns.iter().map(|column| sql!(", r.{column.name}"));
        let (values, key) = (Sql::join(values, ""), relation.key_of("r"));
        let (record, less) = (relation.from("r"), Sql::new("").operator(relation.less));
        let query = sql!(
            "SELECT f.no, f.label, f.key, f.preferred, {rank}, {key}{values} \
            FROM {found} AS f LEFT JOIN {record} ON {matches} ORDER BY f.no, {key} USING {less}, f.label"
        );
        Standings { columns, query }
    }

    /// Gives the records cluster by cluster, in the order of their keys.
    pub fn query(&self) -> &Sql {
        &self.query
    }

    /// What counts of a row of the query; `None` if there is no such record.
    pub fn standing(&self, row: QueryRow<'_>) -> Option<Standing> {
        row.datum(BEFORE - 1)?;
        let columns = self.columns.iter().enumerate();
        let filled = columns.filter(|(i, column)| value(column, row, BEFORE + i).is_some());
        Some(Standing {
            preferred: row.is_true(3),
            rank: row.integer(4),
            filled: filled.count(),
        })
    }
}

/// The columns whose values count: all that the server does not compute, and none where the key alone decides.
pub fn counted<'a>(relation: &'a KeyedRelation, by: &KeepBy) -> Vec<&'a TableColumn> {
    let by_key = matches!(by, KeepBy::LeastKey | KeepBy::GreatestKey);
    let stored = relation.columns.iter().filter(|c| !c.generated && !by_key);
    stored.collect()
}

/// A value that is not missing.
pub fn value(column: &TableColumn, row: QueryRow<'_>, at: usize) -> Option<pg_sys::Datum> {
    let value = row.datum(at)?;
    let is_blank = || {
        // SAFETY: a text that stays as long as the row.
        let text = unsafe { Varlena::new(value) };
        text.bytes().iter().all(|&b| b == b' ')
    };
    (!(column.is_text() && is_blank())).then_some(value)
}
