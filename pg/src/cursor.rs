//! Queries that run with the caller's privileges, by a cursor, so that only some rows at a time are in memory.

use pgrx::pg_sys;

use crate::error::internal;
use crate::output::OutputFunction;
use crate::progress;
use crate::sql::Sql;
use crate::{check_for_interrupts, ffi};

/// An open cursor. It has an SPI connection of its own.
pub struct Cursor {
    portal: pg_sys::Portal,
    batch: i64,
    outside: pg_sys::MemoryContext,
}

/// A row of a cursor.
#[derive(Clone, Copy)]
pub struct QueryRow {
    tuple: pg_sys::HeapTuple,
    columns: pg_sys::TupleDesc,
}

impl QueryRow {
    /// # Safety
    /// The row has these columns, and stays as it is as long as the result is used.
    pub unsafe fn of(tuple: pg_sys::HeapTuple, columns: pg_sys::TupleDesc) -> QueryRow {
        QueryRow { tuple, columns }
    }

    /// A copy in the current memory context; the columns are those of this one.
    pub fn copy(self) -> QueryRow {
        // SAFETY: the row is there now, and is copied with all its values.
        let tuple = unsafe { pg_sys::heap_copytuple(self.tuple) };
        QueryRow { tuple, ..self }
    }

    /// The row as a whole. It lives as long as the call that got the row.
    pub fn tuple(self) -> pg_sys::HeapTuple {
        self.tuple
    }

    /// The value of column `i`, from 0; `None` for NULL. It lives as long as the call that got the row.
    pub fn datum(self, i: usize) -> Option<pg_sys::Datum> {
        let mut is_null = false;
        // SAFETY: the row is there until the next batch; the server checks the number.
        let datum =
            unsafe { pg_sys::SPI_getbinval(self.tuple, self.columns, i as i32 + 1, &mut is_null) };
        (!is_null).then_some(datum)
    }
}

impl Cursor {
    /// Runs a query, reading only, with the caller's privileges and snapshot. `batch` rows are fetched at a time.
    ///
    /// Errors: as the query.
    pub fn open(sql: Sql, arguments: &[(pg_sys::Oid, pg_sys::Datum)], batch: i64) -> Cursor {
        let sql = sql.into_c();
        let (mut types, mut values): (Vec<_>, Vec<_>) = arguments.iter().copied().unzip();
        // SAFETY: the protocol of the SPI; as many values as types, none of them NULL.
        unsafe {
            let outside = pg_sys::CurrentMemoryContext;
            ffi::SPI_connect();
            let portal = progress::apart(|| {
                ffi::SPI_cursor_open_with_args(
                    std::ptr::null(),
                    sql.as_ptr(),
                    arguments.len() as i32,
                    types.as_mut_ptr(),
                    values.as_mut_ptr(),
                    std::ptr::null(),
                    true,
                    0,
                )
            });
            progress::expect_rows(planned_rows(portal));
            Cursor {
                portal,
                batch,
                outside,
            }
        }
    }

    /// The output of column `i`, from 0. It lives as long as the cursor.
    pub fn output(&self, i: usize) -> OutputFunction {
        // SAFETY: an open cursor has a descriptor; the server gives no type for a column that is not there.
        let type_oid = unsafe { pg_sys::SPI_gettypeid((*self.portal).tupDesc, i as i32 + 1) };
        assert_ne!(type_oid, pg_sys::InvalidOid, "columns as queried");
        OutputFunction::new(type_oid)
    }

    /// Type and collation of column `i`, from 0.
    pub fn column(&self, i: usize) -> (pg_sys::Oid, pg_sys::Oid) {
        // SAFETY: an open cursor has a descriptor with as many columns as were queried.
        unsafe {
            let column = ffi::attribute((*self.portal).tupDesc, i as i32);
            ((*column).atttypid, (*column).attcollation)
        }
    }

    /// Gives every row to `each`, and closes the cursor. `each` allocates in the memory context in which the cursor was
    /// opened, so files that it opens outlive the connection.
    pub fn each(self, mut each: impl FnMut(QueryRow)) {
        self.each_while(|row| {
            each(row);
            true
        });
    }

    /// As [`each`](Cursor::each), until `each` says that no more rows are wanted.
    pub fn each_while(self, mut each: impl FnMut(QueryRow) -> bool) {
        // SAFETY: the protocol of the SPI. Rows are freed batch by batch.
        unsafe {
            let mut more = true;
            while more {
                progress::apart(|| ffi::SPI_cursor_fetch(self.portal, true, self.batch));
                let fetched = pg_sys::SPI_processed as usize;
                if fetched == 0 {
                    break;
                }
                let table = &*pg_sys::SPI_tuptable;
                let before = pg_sys::MemoryContextSwitchTo(self.outside);
                more = (0..fetched).all(|i| {
                    check_for_interrupts();
                    each(QueryRow {
                        tuple: *table.vals.add(i),
                        columns: table.tupdesc,
                    })
                });
                progress::rows(fetched as u64);
                pg_sys::MemoryContextSwitchTo(before);
                pg_sys::SPI_freetuptable(pg_sys::SPI_tuptable);
            }
            ffi::SPI_cursor_close(self.portal);
            ffi::SPI_finish();
        }
    }
}

/// How many rows the planner expects.
///
/// # Safety
/// `portal` is open, and of one query.
unsafe fn planned_rows(portal: pg_sys::Portal) -> f64 {
    // SAFETY: a portal has the plans of its query as long as it is open; one without them is a null list.
    unsafe {
        let plans = (*portal).stmts;
        if plans.is_null() || (*plans).length == 0 {
            return f64::NAN;
        }
        let planned: *mut pg_sys::PlannedStmt = pg_sys::list_nth(plans, 0).cast();
        match (*planned).planTree.as_ref() {
            Some(plan) => plan.plan_rows,
            None => f64::NAN,
        }
    }
}

/// Runs a statement that returns no rows, such as CREATE, with the caller's privileges.
///
/// Errors: as the statement.
pub fn execute(sql: Sql) {
    let sql = sql.into_c();
    // SAFETY: the protocol of the SPI: connected, and finished by the end of the subtransaction if there is an error.
    unsafe {
        ffi::SPI_connect();
        let code = ffi::SPI_execute(sql.as_ptr(), false, 0);
        if code != pg_sys::SPI_OK_UTILITY as i32 {
            internal!("SPI_execute returned {code}");
        }
        ffi::SPI_finish();
    }
}

/// Runs a statement that changes rows, with the caller's privileges and a snapshot of its own. Returns how many it has
/// changed.
///
/// Errors: as the statement.
pub fn modify(sql: Sql, arguments: &[(pg_sys::Oid, pg_sys::Datum)]) -> u64 {
    let sql = sql.into_c();
    let (mut types, mut values): (Vec<_>, Vec<_>) = arguments.iter().copied().unzip();
    // SAFETY: as above; as many values as types, none of them NULL.
    unsafe {
        ffi::SPI_connect();
        let code = ffi::SPI_execute_with_args(
            sql.as_ptr(),
            arguments.len() as i32,
            types.as_mut_ptr(),
            values.as_mut_ptr(),
            std::ptr::null(),
            false,
            0,
        );
        if code < 0 {
            internal!("SPI_execute_with_args returned {code}");
        }
        let changed = pg_sys::SPI_processed;
        ffi::SPI_finish();
        changed
    }
}
