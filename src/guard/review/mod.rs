//! The review table, to which action `flag` writes pairs of similar rows.

pub mod acting_user;
mod builtin;
mod check;
mod switched_user;

use bloom_ident_core::guard::similar_rows::SimilarRows;
use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use switched_user::SwitchedUser;

use crate::pg::catalog::{self, privileges::current_user};
use crate::pg::ffi;
use crate::pg::function::rows::text_datum;
use crate::pg::message::{words, Message, OrMessage};
use crate::pg::saved_plan::SavedPlan;
use crate::pg::sql::Sql;

/// The types of the parameters of both plans: key, key of the similar row, similarity.
const PARAMETERS: [pg_sys::Oid; 3] = [pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::FLOAT8OID];

/// A review table and the plans that insert into it.
pub struct ReviewTable {
    pub table: pg_sys::Oid,
    /// Runs as the invoking user.
    insert: SavedPlan<3>,
    /// The same with RETURNING: a cursor over it can be looked at after it is planned and before it runs.
    insert_returning: SavedPlan<3>,
}

impl ReviewTable {
    /// Where a table is compared with itself, a pair is not entered again with its rows exchanged. Where it is compared with a
    /// block list, the keys of a pair are of two tables, so they are not compared.
    ///
    /// Errors: it is no table (42809), lacks columns (42703), or has them of other types (42804).
    pub fn new(table: pg_sys::Oid, with_list: bool) -> OrMessage<ReviewTable> {
        check::check(table)?;
        let mut insert = Sql::new("INSERT INTO ")
            .relation(table)
            .text(" (key, duplicate, similarity, found_at) SELECT $1, $2, $3, pg_catalog.now()");
        if !with_list {
            insert = insert
                .text(" WHERE NOT EXISTS (SELECT FROM ")
                .only(table)
                .text(" AS r WHERE r.key OPERATOR(pg_catalog.=) $2 AND r.duplicate OPERATOR(pg_catalog.=) $1)");
        }
        insert = insert.text(" ON CONFLICT DO NOTHING");
        Ok(ReviewTable {
            table,
            insert: SavedPlan::of(insert.clone(), PARAMETERS),
            insert_returning: SavedPlan::of(insert.text(" RETURNING 1"), PARAMETERS),
        })
    }

    /// Enters a pair for each of the best rows. It is written as `owner`, who owns the guarded table, if that runs no code but
    /// the server's own; else as the invoking user.
    ///
    /// Errors: the review table has been replaced meanwhile, or has got partitions (40001); those of the write.
    pub fn enter(&self, owner: pg_sys::Oid, key: &[u8], found: &SimilarRows) -> OrMessage<()> {
        let tables = if current_user() == owner {
            None
        } else {
            acting_user::owned_throughout(self.table, owner)
        };
        // SAFETY: a trigger runs in a transaction. The connection is finished here, or by the server after an error.
        unsafe { ffi::SPI_connect() };
        let switched = tables.as_ref().map(|_| SwitchedUser::begin(owner));
        let result = found.best.iter().try_for_each(|row| {
            let similarity = row.similarity.into_datum().expect("not NULL");
            let mut values = [text_datum(key), text_datum(&row.key), similarity];
            match &tables {
                None => {
                    // SAFETY: SPI is connected, and the values are of the types of the parameters.
                    unsafe { self.insert.run(&mut values) };
                    Ok(())
                }
                // SAFETY: SPI is connected, and the values are of the types of the parameters.
                Some(tables) => unsafe { self.enter_within(tables, owner, &mut values) },
            }
        });
        if let Some(switched) = switched {
            switched.end();
        }
        // SAFETY: SPI is connected.
        unsafe { ffi::SPI_finish() };
        result
    }

    /// Enters a pair if the plan writes only to `tables`, which were found to run no code but the server's own.
    ///
    /// Errors: it would write elsewhere (40001); those of the write.
    ///
    /// # Safety
    /// SPI is connected, and the values are of the types of the parameters.
    unsafe fn enter_within(
        &self,
        tables: &[pg_sys::Oid],
        owner: pg_sys::Oid,
        values: &mut [pg_sys::Datum; 3],
    ) -> OrMessage<()> {
        // SAFETY: SPI is connected, and there are as many values as parameters, of their types. The cursor is open until it is
        // closed here.
        unsafe {
            let cursor = ffi::SPI_cursor_open(
                std::ptr::null(),
                self.insert_returning.prepared(),
                values.as_mut_ptr(),
                std::ptr::null(),
                false,
            );
            let is_as_seen = acting_user::stays_within(cursor, tables)
                && acting_user::owned_throughout(self.table, owner).as_deref() == Some(tables);
            if is_as_seen {
                ffi::SPI_cursor_fetch(cursor, true, 1);
            }
            ffi::SPI_cursor_close(cursor);
            if is_as_seen {
                return Ok(());
            }
        }
        Err(Message::of(
            PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
            words!(
                "review table \"",
                catalog::name(self.table),
                "\" was changed while it was written to"
            ),
        )
        .hint(words!("Repeat the transaction.")))
    }
}
