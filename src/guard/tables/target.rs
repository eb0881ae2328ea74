//! A table that is searched.

use std::ffi::CStr;

use pgrx::pg_sys;

use super::column::signature_column;
use super::index::SearchIndex;
use super::key::PrimaryKey;
use super::tokens::TokensColumn;
use super::within::WithinColumns;
use pg::message::OrMessage;
use pg::relation::OpenRelation;

/// A table with rows, and what a search in it needs.
pub struct SearchTarget {
    pub table: pg_sys::Oid,
    /// The signature column.
    pub column: i16,
    /// The columns in which rows must be equal to be compared.
    pub within: WithinColumns,
    /// The column of tokens, if these are compared.
    pub tokens: Option<TokensColumn>,
    /// `None`: the whole table is read.
    pub index: Option<SearchIndex>,
    /// A sigfile index that can be searched for many rows at once.
    pub index_for_many: Option<pg_sys::Oid>,
    pub key: Option<PrimaryKey>,
}

impl SearchTarget {
    /// `table` is locked, and has rows of its own.
    ///
    /// Errors: as for [`signature_column`] and [`TokensColumn::of`].
    pub fn new(
        table: pg_sys::Oid,
        column: &CStr,
        within: WithinColumns,
        verify: Option<&CStr>,
    ) -> OrMessage<SearchTarget> {
        let column = signature_column(table, column)?;
        let open = OpenRelation::locked_table(table);
        let indexes = SearchIndex::best(&open, column, &within);
        Ok(SearchTarget {
            table,
            column: column.number,
            index: indexes.one,
            index_for_many: indexes.many,
            key: PrimaryKey::of(&open),
            within,
            tokens: verify
                .map(|name| TokensColumn::of(table, name))
                .transpose()?,
        })
    }
}
