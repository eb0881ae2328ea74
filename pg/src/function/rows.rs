//! Results of many rows, in a tuplestore, which goes to disk above work_mem.

use pgrx::pg_sys;

use crate::error::OrRaise;
use crate::memory::Scratch;
use crate::session::QueryRow;
use crate::values::varlena::build;

/// The rows that the running set-returning function returns.
pub struct ResultRows {
    store: *mut pg_sys::Tuplestorestate,
    columns: pg_sys::TupleDesc,
    /// Memory for the values of a row.
    scratch: Scratch,
}

impl ResultRows {
    /// # Safety
    /// `fcinfo` is that of a running function that returns a set of rows with OUT columns.
    pub unsafe fn new(fcinfo: pg_sys::FunctionCallInfo) -> ResultRows {
        // SAFETY: the record is of a call that is running. The server fills in the fields of the result, or raises an
        // error if the caller takes no set.
        unsafe {
            pg_sys::InitMaterializedSRF(fcinfo, 0);
            let info: *mut pg_sys::ReturnSetInfo = (*fcinfo).resultinfo.cast();
            ResultRows {
                store: (*info).setResult,
                columns: (*info).setDesc,
                scratch: Scratch::new(c"row of a result"),
            }
        }
    }

    /// Adds the row that `make` gives, if it gives one. Memory that `make` allocates is freed.
    pub fn make<const N: usize>(
        &mut self,
        make: impl FnOnce() -> Option<[Option<pg_sys::Datum>; N]>,
    ) -> bool {
        let (store, columns) = (self.store, self.columns);
        self.scratch.with(|| {
            let row = make();
            let made = row.is_some();
            if let Some(row) = row {
                put(store, columns, row);
            }
            made
        })
    }

    /// Adds a row of a query that has the columns of the result.
    pub fn copy(&mut self, row: QueryRow<'_>) {
        // SAFETY: the row is there as long as the cursor gives no further ones; it is copied.
        unsafe { pg_sys::tuplestore_puttuple(self.store, row.tuple()) };
    }

    /// Adds a row; `None` is NULL.
    pub fn put<const N: usize>(&mut self, values: [Option<pg_sys::Datum>; N]) {
        put(self.store, self.columns, values);
    }
}

/// Adds a row to the result that is being made.
fn put<const N: usize>(
    store: *mut pg_sys::Tuplestorestate,
    columns: pg_sys::TupleDesc,
    values: [Option<pg_sys::Datum>; N],
) {
    // SAFETY: the descriptor is that of the result, which lives as long as the call.
    let natts = unsafe { (*columns).natts };
    assert_eq!(natts as usize, N, "result columns as declared");
    let mut datums = values.map(|v| v.unwrap_or(pg_sys::Datum::null()));
    let mut nulls = values.map(|v| v.is_none());
    // SAFETY: as many values as columns; they are copied.
    unsafe {
        pg_sys::tuplestore_putvalues(store, columns, datums.as_mut_ptr(), nulls.as_mut_ptr());
    }
}

/// A text, in the database's encoding.
pub fn text_datum(text: &[u8]) -> pg_sys::Datum {
    // SAFETY: pointer and length are those of a slice.
    pg_sys::Datum::from(unsafe {
        pg_sys::cstring_to_text_with_len(text.as_ptr().cast(), text.len() as i32)
    })
}

/// The bytes of a text.
///
/// # Safety
/// `text` is one that is not compressed or stored elsewhere, and stays as long as the result is used.
pub unsafe fn text_bytes<'a>(text: pg_sys::Datum) -> &'a [u8] {
    // SAFETY: the text is plain, so that its bytes follow its header.
    unsafe { pgrx::varlena_to_byte_slice(text.cast_mut_ptr()) }
}

/// A new text of so many bytes, in the database's encoding, which `fill` writes.
pub fn new_text(len: usize, fill: impl FnOnce(&mut [u8])) -> pg_sys::Datum {
    let text = build(len, |bytes| {
        fill(bytes);
        Ok(())
    });
    pg_sys::Datum::from(text.or_raise())
}
