//! A table that a guard writes to: the way of the write, and as whom.

use pgrx::{pg_sys, PgSqlErrorCode};

use super::acting_user;
use super::switched_user::SwitchedUser;
use super::table_form::TableForm;
use pg::catalog::{self, privileges::current_user};
use pg::ffi;
use pg::message::{words, Message, OrMessage};
use pg::saved_plan::SavedPlan;
use pg::sql::Sql;

/// A table, and the plans that insert a row of `N` parameters.
pub struct WrittenTable<const N: usize> {
    pub table: pg_sys::Oid,
    form: &'static TableForm,
    /// Runs as the invoking user.
    insert: SavedPlan<N>,
    /// The same with RETURNING: a cursor over it can be looked at after it is planned and before it runs.
    insert_returning: SavedPlan<N>,
}

impl<const N: usize> WrittenTable<N> {
    /// `insert` is an INSERT with parameters of these types.
    ///
    /// Errors: the table is not of the form: those of [`TableForm::check`].
    pub fn new(
        table: pg_sys::Oid,
        form: &'static TableForm,
        insert: Sql,
        parameters: [pg_sys::Oid; N],
    ) -> OrMessage<WrittenTable<N>> {
        form.check(table)?;
        let insert = insert.text(" ON CONFLICT DO NOTHING");
        Ok(WrittenTable {
            table,
            form,
            insert: SavedPlan::of(insert.clone(), parameters),
            insert_returning: SavedPlan::of(insert.text(" RETURNING 1"), parameters),
        })
    }

    /// Enters rows. They are written as `owner`, who owns the guarded table, if that runs no code but
    /// the server's own; else as the invoking user.
    ///
    /// Errors: the table has been replaced meanwhile, or has got partitions (40001); those of the write.
    ///
    /// # Safety
    /// SPI is connected, and the values are of the types of the parameters.
    pub unsafe fn enter(
        &self,
        owner: pg_sys::Oid,
        rows: impl IntoIterator<Item = [pg_sys::Datum; N]>,
    ) -> OrMessage<()> {
        let tables = if current_user() == owner {
            None
        } else {
            acting_user::owned_throughout(self.table, owner)
        };
        let switched = tables.as_ref().map(|_| SwitchedUser::begin(owner));
        let result = rows.into_iter().try_for_each(|mut values| match &tables {
            None => {
                // SAFETY: SPI is connected, and the values are of the types of the parameters.
                unsafe { self.insert.run(&mut values) };
                Ok(())
            }
            // SAFETY: SPI is connected, and the values are of the types of the parameters.
            Some(tables) => unsafe { self.enter_within(tables, owner, &mut values) },
        });
        if let Some(switched) = switched {
            switched.end();
        }
        result
    }

    /// Enters a row if the plan writes only to `tables`, which were found to run no code but the server's own.
    ///
    /// Errors: it would write elsewhere (40001); those of the write.
    ///
    /// # Safety
    /// SPI is connected, and the values are of the types of the parameters.
    unsafe fn enter_within(
        &self,
        tables: &[pg_sys::Oid],
        owner: pg_sys::Oid,
        values: &mut [pg_sys::Datum; N],
    ) -> OrMessage<()> {
        // SAFETY: SPI is connected, and there are as many values as parameters, of their types. The cursor is open
        // until it is closed here.
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
                "{} \"{}\" was changed while it was written to",
                self.form.label,
                catalog::name(self.table)
            ),
        )
        .hint("Repeat the transaction."))
    }
}
