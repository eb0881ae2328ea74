//! A table that a guard writes to: the way of the write, and as whom.

use base::Result;
use pg::error::sql_error;
use pgrx::{pg_sys, PgSqlErrorCode};

use super::acting_user;
use super::switched_user::SwitchedUser;
use super::table_form::TableForm;
use pg::catalog::{self, privileges::current_user};
use pg::message::words;
use pg::session::{SavedPlan, Session};
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
    ) -> Result<WrittenTable<N>> {
        form.check(table)?;
        let insert = insert.text(" ON CONFLICT DO NOTHING");
        Ok(WrittenTable {
            table,
            form,
            insert: SavedPlan::new(insert.clone(), parameters),
            insert_returning: SavedPlan::new(insert.text(" RETURNING 1"), parameters),
        })
    }

    /// Enters rows. They are written as `owner`, who owns the guarded table, if that runs no code but
    /// the server's own; else as the invoking user.
    ///
    /// Errors: the table has been replaced meanwhile, or has got partitions (40001); those of the write.
    pub fn enter(
        &self,
        session: &Session,
        owner: pg_sys::Oid,
        rows: impl IntoIterator<Item = [pg_sys::Datum; N]>,
    ) -> Result<()> {
        let tables = if current_user() == owner {
            None
        } else {
            acting_user::owned_throughout(self.table, owner)
        };
        let switched = tables.as_ref().map(|_| SwitchedUser::begin(owner));
        let result = rows.into_iter().try_for_each(|values| match &tables {
            None => {
                self.insert.run(session, values);
                Ok(())
            }
            Some(tables) => self.enter_within(session, tables, owner, values),
        });
        if let Some(switched) = switched {
            switched.end();
        }
        result
    }

    /// Enters a row if the plan writes only to `tables`, which were found to run no code but the server's own.
    ///
    /// Errors: it would write elsewhere (40001); those of the write.
    fn enter_within(
        &self,
        session: &Session,
        tables: &[pg_sys::Oid],
        owner: pg_sys::Oid,
        values: [pg_sys::Datum; N],
    ) -> Result<()> {
        let insertion = self.insert_returning.open(session, values);
        // SAFETY: the cursor is open.
        let is_as_seen = unsafe { acting_user::stays_within(insertion.portal(), tables) }
            && acting_user::owned_throughout(self.table, owner).as_deref() == Some(tables);
        if is_as_seen {
            insertion.each(|_| ());
            return Ok(());
        }
        Err(sql_error(
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
