//! A statement whose plan is kept for the session.

use std::cell::Cell;
use std::ffi::CString;

use pgrx::pg_sys;

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
    pub fn of(statement: Sql, parameters: [pg_sys::Oid; N]) -> SavedPlan<N> {
        SavedPlan {
            statement: statement.into_c(),
            parameters,
            plan: Cell::new(std::ptr::null_mut()),
        }
    }

    /// Runs the statement.
    ///
    /// # Safety
    /// SPI is connected, and the values are of the types of the parameters.
    pub unsafe fn run(&self, values: &mut [pg_sys::Datum; N]) {
        // SAFETY: SPI is connected, and the plan has as many parameters as there are values, of their types.
        unsafe {
            let plan = self.prepared();
            let code = ffi::SPI_execute_plan(plan, values.as_mut_ptr(), std::ptr::null(), false, 0);
            if code < 0 {
                internal!("SPI_execute_plan returned {code}");
            }
        }
    }

    /// Runs the statement, a query of one value, and gives that of its first row; `None` for NULL. It lives until SPI
    /// is finished.
    ///
    /// # Safety
    /// As for [`SavedPlan::run`].
    pub unsafe fn value(&self, values: &mut [pg_sys::Datum; N]) -> Option<pg_sys::Datum> {
        // SAFETY: the caller promises it; after a query the server's variables hold its rows, of which each has a
        // value.
        unsafe {
            self.run(values);
            if pg_sys::SPI_processed == 0 {
                return None;
            }
            let (rows, mut is_null) = (&*pg_sys::SPI_tuptable, false);
            let value = pg_sys::SPI_getbinval(*rows.vals, rows.tupdesc, 1, &mut is_null);
            (!is_null).then_some(value)
        }
    }

    /// The plan, which is valid as long as this lives.
    ///
    /// # Safety
    /// SPI is connected.
    pub unsafe fn prepared(&self) -> pg_sys::SPIPlanPtr {
        if self.plan.get().is_null() {
            let mut types = self.parameters;
            // SAFETY: SPI is connected. The statement is a C string, and there are as many types as the number says. A
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
