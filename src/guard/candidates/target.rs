//! A table that is searched.

use base::Result;
use std::ffi::CStr;

use pgrx::pg_sys;

use super::index::SearchIndex;
use crate::guard::compare::within::WithinColumns;
use crate::guard::compare::Judge;
use crate::guard::tables::column::signature_column;
use crate::guard::tables::key::PrimaryKey;
use pg::relation::OpenRelation;

/// A table with rows, and what a search in it needs.
pub struct SearchTarget {
    pub table: pg_sys::Oid,
    /// The columns that the judge reads, in its order.
    pub columns: Vec<i16>,
    /// The columns in which rows must be equal to be compared.
    pub within: WithinColumns,
    /// `None`: the whole table is read.
    pub index: Option<SearchIndex>,
    /// A sigfile index that can be searched for many rows at once.
    pub index_for_many: Option<pg_sys::Oid>,
    pub key: Option<PrimaryKey>,
}

impl SearchTarget {
    /// `table` is locked, and has rows of its own. `column` is that of signatures.
    ///
    /// Errors: as for [`signature_column`] and [`Judge::columns`].
    pub fn new(
        table: pg_sys::Oid,
        column: &CStr,
        within: WithinColumns,
        judge: &dyn Judge,
    ) -> Result<SearchTarget> {
        let column = signature_column(table, column)?;
        let open = OpenRelation::locked_table(table);
        let indexes = SearchIndex::best(&open, column, &within);
        Ok(SearchTarget {
            table,
            index: indexes.one,
            index_for_many: indexes.many,
            key: PrimaryKey::of(&open),
            within,
            columns: judge.columns(table, column.number)?,
        })
    }

    /// The column of signatures.
    pub fn signature(&self) -> i16 {
        self.columns[0]
    }
}
