//! Rows of a query, by a cursor, so that only some at a time are in memory.

use std::borrow::Borrow;
use std::ffi::CStr;
use std::marker::PhantomData;

use pgrx::pg_sys;

use super::{Parameter, Session};
use crate::output::OutputFunction;
use crate::sql::Sql;
use crate::values::text::Text;
use crate::values::varlena::Varlena;
use crate::{check_for_interrupts, ffi, progress};

/// A row of a query, as long as it is in memory.
#[derive(Clone, Copy)]
pub struct QueryRow<'r> {
    tuple: pg_sys::HeapTuple,
    columns: pg_sys::TupleDesc,
    of: PhantomData<&'r ()>,
}

impl<'r> QueryRow<'r> {
    /// # Safety
    /// The row has these columns, and both stay as they are as long as `'r`.
    pub unsafe fn new(tuple: pg_sys::HeapTuple, columns: pg_sys::TupleDesc) -> QueryRow<'r> {
        QueryRow {
            tuple,
            columns,
            of: PhantomData,
        }
    }

    /// A copy in the current memory context; the columns are those of this one.
    ///
    /// # Safety
    /// The memory context and the columns, which a query has until it ends, stay as long as `'c`.
    pub unsafe fn copy<'c>(self) -> QueryRow<'c> {
        // SAFETY: the row is there now, and is copied with all its values; the caller's.
        unsafe { QueryRow::new(pg_sys::heap_copytuple(self.tuple), self.columns) }
    }

    /// The row as a whole. It stays as long as this.
    pub fn tuple(self) -> pg_sys::HeapTuple {
        self.tuple
    }

    /// The value of column `i`, from 0; `None` for NULL. What it points to stays as long as the row.
    pub fn datum(self, i: usize) -> Option<pg_sys::Datum> {
        let mut is_null = false;
        // SAFETY: the row is there, with its columns; the server checks the number.
        let datum =
            unsafe { pg_sys::SPI_getbinval(self.tuple, self.columns, i as i32 + 1, &mut is_null) };
        (!is_null).then_some(datum)
    }

    /// The integer in column `i`; 0 for NULL.
    pub fn integer(self, i: usize) -> i64 {
        self.datum(i).map_or(0, |value| value.value() as i64)
    }

    /// The OID in column `i`; none for NULL.
    pub fn oid(self, i: usize) -> pg_sys::Oid {
        pg_sys::Oid::from(self.integer(i) as u32)
    }

    /// Whether column `i`, a boolean, is true.
    pub fn is_true(self, i: usize) -> bool {
        self.integer(i) as u8 != 0
    }

    /// The value of column `i`, whose type has this length; -1 is that of varlenas.
    fn of_length(self, i: usize, length: i16) -> Option<pg_sys::Datum> {
        let datum = self.datum(i)?;
        // SAFETY: the row has this column, or the server would have raised an error.
        let attlen = unsafe { (*ffi::attribute(self.columns, i as i32)).attlen };
        assert_eq!(attlen, length, "columns as queried");
        Some(datum)
    }

    /// The bytes of column `i`, of a text or another varlena.
    pub fn bytes(self, i: usize) -> Option<Varlena<'r>> {
        // SAFETY: a varlena, which stays as long as the row.
        self.of_length(i, -1)
            .map(|value| unsafe { Varlena::new(value) })
    }

    /// The text in column `i`.
    pub fn text(self, i: usize) -> Option<Text<'r>> {
        // SAFETY: a varlena, which stays as long as the row; whether its bytes are a text is checked.
        self.of_length(i, -1)
            .map(|value| unsafe { Text::from_raw(value) })
    }

    /// The name in column `i`.
    pub fn name(self, i: usize) -> Option<&'r CStr> {
        let value = self.of_length(i, pg_sys::NAMEDATALEN as i16)?;
        // SAFETY: a name ends with a zero byte, and stays as long as the row.
        Some(unsafe { CStr::from_ptr(value.cast_mut_ptr()) })
    }
}

/// The rows of a query that has begun, in a session that is borrowed, or ends with them.
pub struct Rows<S: Borrow<Session> = Session> {
    /// Closed before its session ends.
    cursor: OpenCursor,
    session: S,
    batch: i64,
}

struct OpenCursor(pg_sys::Portal);

impl Drop for OpenCursor {
    fn drop(&mut self) {
        // After an error the server closes it itself.
        if !std::thread::panicking() {
            // SAFETY: it is open.
            unsafe { ffi::SPI_cursor_close(self.0) };
        }
    }
}

/// Begins a query that reads only, with the caller's privileges and snapshot, in a session of its own. `batch` rows are
/// fetched at a time.
///
/// Errors: as the query.
pub fn read(sql: Sql, parameters: &[Parameter], batch: i64) -> Rows {
    Rows::begin(Session::begin(true), sql, parameters, batch)
}

impl<S: Borrow<Session>> Rows<S> {
    /// Begins a query in a session. `batch` rows are fetched at a time.
    ///
    /// Errors: as the query.
    pub fn begin(session: S, sql: Sql, parameters: &[Parameter], batch: i64) -> Rows<S> {
        let sql = sql.into_c();
        let (mut types, mut values): (Vec<_>, Vec<_>) = parameters.iter().copied().unzip();
        let read_only = session.borrow().read_only;
        // SAFETY: the session is connected; as many values as types, none of them NULL.
        unsafe {
            let portal = progress::hold_while(|| {
                ffi::SPI_cursor_open_with_args(
                    std::ptr::null(),
                    sql.as_ptr(),
                    parameters.len() as i32,
                    types.as_mut_ptr(),
                    values.as_mut_ptr(),
                    std::ptr::null(),
                    read_only,
                    0,
                )
            });
            progress::expect_rows(planned_rows(portal));
            Rows::of(session, portal, batch)
        }
    }

    /// # Safety
    /// The session has opened this cursor, and nobody else closes it.
    pub(super) unsafe fn of(session: S, portal: pg_sys::Portal, batch: i64) -> Rows<S> {
        Rows {
            cursor: OpenCursor(portal),
            session,
            batch,
        }
    }

    /// The server's form of it.
    pub fn portal(&self) -> pg_sys::Portal {
        self.cursor.0
    }

    /// The columns.
    pub fn columns(&self) -> pg_sys::TupleDesc {
        // SAFETY: an open cursor has a descriptor.
        unsafe { (*self.cursor.0).tupDesc }
    }

    /// The output of column `i`, from 0. It lives as long as the memory context that is current, which is one of the
    /// session.
    pub fn output(&self, i: usize) -> OutputFunction {
        // SAFETY: a descriptor; the server gives no type for a column that is not there.
        let type_oid = unsafe { pg_sys::SPI_gettypeid(self.columns(), i as i32 + 1) };
        assert_ne!(type_oid, pg_sys::InvalidOid, "columns as queried");
        OutputFunction::new(type_oid)
    }

    /// Type and collation of column `i`, from 0.
    pub fn column(&self, i: usize) -> (pg_sys::Oid, pg_sys::Oid) {
        // SAFETY: a descriptor with as many columns as were queried.
        let column = unsafe { &*ffi::attribute(self.columns(), i as i32) };
        (column.atttypid, column.attcollation)
    }

    /// Gives every row to `each`, and ends the query. `each` allocates in the memory context in which the session was
    /// begun, so files that it opens outlive the session.
    pub fn each(self, mut each: impl FnMut(QueryRow<'_>)) {
        self.fetch(|row| {
            each(row);
            true
        });
    }

    /// As [`each`](Rows::each), until `each` says that no more rows are wanted.
    pub fn each_while(self, each: impl FnMut(QueryRow<'_>) -> bool) {
        self.fetch(each);
    }

    /// As [`each_while`](Rows::each_while), and the query stays open.
    pub(super) fn fetch(&self, mut each: impl FnMut(QueryRow<'_>) -> bool) {
        let mut more = true;
        while more {
            // SAFETY: the cursor is open. Rows are freed batch by batch, by the pointer that was kept, since `each` may
            // run statements.
            unsafe {
                progress::hold_while(|| ffi::SPI_cursor_fetch(self.cursor.0, true, self.batch));
                let (fetched, table) = (pg_sys::SPI_processed as usize, pg_sys::SPI_tuptable);
                more = fetched > 0
                    && self.session.borrow().in_callers_memory(|| {
                        (0..fetched).all(|i| {
                            check_for_interrupts();
                            each(QueryRow::new(*(*table).vals.add(i), self.columns()))
                        })
                    });
                progress::rows(fetched as u64);
                pg_sys::SPI_freetuptable(table);
            }
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
