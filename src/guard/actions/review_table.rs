//! The review table, to which action `flag` writes pairs of similar rows.

use base::Result;
use linkage::guard::similar_rows::SimilarRows;
use pgrx::{pg_sys, IntoDatum};

use super::table_form::REVIEW;
use super::written_table::WrittenTable;
use pg::function::rows::text_datum;
use pg::session::Session;
use pg::sql::Sql;

/// The types of the parameters of both plans: key, key of the similar row, similarity.
const PARAMETERS: [pg_sys::Oid; 3] = [pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::FLOAT8OID];

/// A review table.
pub struct ReviewTable {
    written: WrittenTable<3>,
}

impl ReviewTable {
    /// Where a table is compared with itself, a pair is not entered again with its rows exchanged. Where it is compared
    /// with a block list, the keys of a pair are of two tables, so they are not compared.
    ///
    /// Errors: it is no table (42809), lacks columns (42703), or has them of other types (42804).
    pub fn new(table: pg_sys::Oid, with_list: bool) -> Result<ReviewTable> {
        let mut insert = Sql::new("INSERT INTO ")
            .relation(table)
            .text(" (key, duplicate, similarity, found_at) SELECT $1, $2, $3, pg_catalog.now()");
        if !with_list {
            insert = insert
                .text(" WHERE NOT EXISTS (SELECT FROM ")
                .only(table)
                .text(
                    " AS r WHERE r.key OPERATOR(pg_catalog.=) $2 AND r.duplicate \
                OPERATOR(pg_catalog.=) $1)",
                );
        }
        Ok(ReviewTable {
            written: WrittenTable::new(table, &REVIEW, insert, PARAMETERS)?,
        })
    }

    /// Enters a pair for each of the best rows, as [`WrittenTable::enter`] says.
    ///
    /// Errors: those of [`WrittenTable::enter`].
    pub fn enter(&self, owner: pg_sys::Oid, key: &[u8], found: &SimilarRows) -> Result<()> {
        let pairs = found.best.iter().map(|row| {
            let similarity = row.similarity.into_datum().expect("not NULL");
            [text_datum(key), text_datum(&row.key), similarity]
        });
        self.written.enter(&Session::begin(false), owner, pairs)
    }

    /// The table.
    pub fn table(&self) -> pg_sys::Oid {
        self.written.table
    }
}
