//! The table of the rows that action `skip` leaves out.

use base::Result;
use std::ffi::CStr;

use linkage::guard::similar_rows::SimilarRow;
use pgrx::{pg_sys, IntoDatum};

use super::table_form::SKIPPED;
use super::written_table::WrittenTable;
use crate::guard::row::Row;
use pg::catalog::privileges::current_user;
use pg::ffi;
use pg::function::rows::text_datum;
use pg::relation::OpenRelation;
use pg::session::{SavedPlan, Session};
use pg::sql::Sql;

/// The types of the parameters: the row, whether a similar one is known, its key, the similarity, and who has entered
/// the row.
const PARAMETERS: [pg_sys::Oid; 5] = [
    pg_sys::JSONBOID,
    pg_sys::BOOLOID,
    pg_sys::TEXTOID,
    pg_sys::FLOAT8OID,
    pg_sys::TEXTOID,
];

/// The table of skipped rows.
pub struct SkippedTable {
    written: WrittenTable<5>,
    /// Makes JSON of a row.
    to_json: SavedPlan<1>,
}

impl SkippedTable {
    /// `guarded` is the table that the trigger fires for. Generated columns, which are not computed yet, are left out.
    ///
    /// Errors: those of [`WrittenTable::new`].
    pub fn new(table: pg_sys::Oid, guarded: pg_sys::Oid) -> Result<SkippedTable> {
        let insert = Sql::new("INSERT INTO ").relation(table).text(
            " (record, duplicate, similarity, found_at, who) SELECT $1, CASE WHEN \
                $2 THEN $3 END, CASE WHEN $2 THEN $4 END, pg_catalog.now(), $5",
        );
        let open = OpenRelation::locked_table(guarded);
        // SAFETY: an open relation has a descriptor, with as many columns as it says. A name is a C string.
        let generated: Vec<_> = unsafe {
            let columns = (0..(*open.rd_att).natts).map(|i| &*ffi::attribute(open.rd_att, i));
            let generated = columns.filter(|c| c.attgenerated != 0 && !c.attisdropped);
            generated
                .map(|c| CStr::from_ptr(c.attname.data.as_ptr()).to_owned())
                .collect()
        };
        let to_json = Sql::new("SELECT pg_catalog.to_jsonb($1) OPERATOR(pg_catalog.-) ARRAY[")
            .list(&generated, |sql, name| sql.literal(name))
            .text("]::pg_catalog.text[]");
        Ok(SkippedTable {
            written: WrittenTable::new(table, &SKIPPED, insert, PARAMETERS)?,
            to_json: SavedPlan::new(to_json, [open.form().reltype]),
        })
    }

    /// The table.
    pub fn table(&self) -> pg_sys::Oid {
        self.written.table
    }

    /// Enters a row, with the one that it is similar to, if that is known. What makes JSON of values runs as the
    /// invoking user.
    ///
    /// Errors: those of [`WrittenTable::enter`], and of casts and outputs of the row's types.
    pub fn enter(&self, owner: pg_sys::Oid, row: &Row, similar: Option<&SimilarRow>) -> Result<()> {
        let session = Session::begin(false);
        // SAFETY: the row is that of the trigger, with the columns of its table. There is a user of this OID.
        let (row, user) = unsafe {
            // The slot of a partition may say nothing of the type of its rows.
            let tuple = pg_sys::ExecFetchSlotHeapTuple(row.slot, false, std::ptr::null_mut());
            let user = CStr::from_ptr(pg_sys::GetUserNameFromId(current_user(), false));
            (
                pg_sys::heap_copy_tuple_as_datum(tuple, (*row.table).rd_att),
                user,
            )
        };
        let json = self.to_json.run(&session, [row]);
        let record = json.first().and_then(|row| row.datum(0));
        let key = similar.map_or(&b""[..], |row| &row.key);
        let similarity = similar.map_or(0.0, |row| row.similarity);
        let values = [
            record.expect("a row is not NULL"),
            pg_sys::Datum::from(similar.is_some()),
            text_datum(key),
            similarity.into_datum().expect("not NULL"),
            text_datum(user.to_bytes()),
        ];
        self.written.enter(&session, owner, [values])
    }
}
