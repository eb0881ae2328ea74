//! A statement whose plan is kept for the session.

use std::cell::Cell;
use std::ffi::CString;

use pgrx::pg_sys;

use super::{check, QueryRow, Rows, Session};
use crate::error::internal;
use crate::ffi;
use crate::sql::Sql;

/// A statement with `N` parameters, and its plan, once it was needed.
pub struct SavedPlan<const N: usize> {
    statement: CString,
    parameters: [pg_sys::Oid; N],
    /// NULL until it is needed.
    plan: Cell<pg_sys::SPIPlanPtr>,
}

impl<const N: usize> SavedPlan<N> {
    /// Nothing is planned yet.
    pub fn new(statement: Sql, parameters: [pg_sys::Oid; N]) -> SavedPlan<N> {
        SavedPlan {
            statement: statement.into_c(),
            parameters,
            plan: Cell::new(std::ptr::null_mut()),
        }
    }

    /// Runs the statement with values of the types of its parameters, none of them NULL, and gives its rows.
    ///
    /// Errors: as the statement.
    pub fn run<'s>(
        &self,
        session: &'s Session,
        mut values: [pg_sys::Datum; N],
    ) -> Vec<QueryRow<'s>> {
        let (plan, read_only) = (self.prepared(session), session.read_only);
        // SAFETY: the session is connected, and the plan has as many parameters as there are values. What the statement
        // returns stays until the session ends.
        unsafe {
            let nulls = std::ptr::null();
            let code = ffi::SPI_execute_plan(plan, values.as_mut_ptr(), nulls, read_only, 0);
            check("SPI_execute_plan", code);
            let Some(table) = pg_sys::SPI_tuptable.as_ref() else {
                return Vec::new();
            };
            let row = |i: u64| QueryRow::new(*table.vals.add(i as usize), table.tupdesc);
            (0..pg_sys::SPI_processed).map(row).collect()
        }
    }

    /// Plans the statement for such values, and does not run it yet.
    pub fn open<'s>(
        &self,
        session: &'s Session,
        mut values: [pg_sys::Datum; N],
    ) -> Rows<&'s Session> {
        let (plan, read_only) = (self.prepared(session), session.read_only);
        let (name, nulls) = (std::ptr::null(), std::ptr::null());
        // SAFETY: as above; nobody else knows the cursor.
        unsafe {
            let values = values.as_mut_ptr();
            let portal = ffi::SPI_cursor_open(name, plan, values, nulls, read_only);
            Rows::of(session, portal, 1)
        }
    }

    /// The plan, which is valid as long as this lives.
    fn prepared(&self, _: &Session) -> pg_sys::SPIPlanPtr {
        if self.plan.get().is_null() {
            let mut types = self.parameters;
            // SAFETY: the session is connected. The statement is a C string, and there are as many types as the number says. A
            // plan that is kept outlives the connection.
            unsafe {
                let plan = ffi::SPI_prepare(self.statement.as_ptr(), N as i32, types.as_mut_ptr());
                if plan.is_null() || ffi::SPI_keepplan(plan) != 0 {
                    let code = pg_sys::SPI_result;
                    internal!("SPI_prepare returned {code}");
                }
                self.plan.set(plan);
            }
        }
        self.plan.get()
    }
}

impl<const N: usize> Drop for SavedPlan<N> {
    fn drop(&mut self) {
        let plan = self.plan.get();
        // SAFETY: the flag is a variable of this process. When the process ends, no handler of errors is left, and the
        // memory goes with the process.
        let is_exiting = unsafe { pg_sys::proc_exit_inprogress };
        if !plan.is_null() && !is_exiting && !std::thread::panicking() {
            // SAFETY: `prepared` has kept the plan, only this frees it, and nobody runs it now.
            unsafe { ffi::SPI_freeplan(plan) };
        }
    }
}
