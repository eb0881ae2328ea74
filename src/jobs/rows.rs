//! Results of many rows: a tuplestore, which goes to disk above work_mem.

use pgrx::pg_sys;

use crate::error::OrRaise;
use crate::types::build;

/// The result of the running set-returning function.
pub struct Rows {
    store: *mut pg_sys::Tuplestorestate,
    columns: pg_sys::TupleDesc,
    /// Memory for the values of a row.
    scratch: pg_sys::MemoryContext,
}

impl Rows {
    /// SAFETY: `fcinfo` is that of a running function that returns a set of rows with OUT columns.
    pub unsafe fn new(fcinfo: pg_sys::FunctionCallInfo) -> Rows {
        // SAFETY: as promised by the caller; the server fills in the result's fields, or raises an error where no
        // set can be returned.
        unsafe {
            pg_sys::InitMaterializedSRF(fcinfo, 0);
            let info: *mut pg_sys::ReturnSetInfo = (*fcinfo).resultinfo.cast();
            Rows {
                store: (*info).setResult,
                columns: (*info).setDesc,
                scratch: pg_sys::AllocSetContextCreateInternal(
                    pg_sys::CurrentMemoryContext,
                    c"row of a result".as_ptr(),
                    pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                    pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                    pg_sys::ALLOCSET_SMALL_MAXSIZE as usize,
                ),
            }
        }
    }

    /// Adds what `make` gives, if it gives a row; the memory that it takes is freed.
    pub fn make<const N: usize>(
        &mut self,
        make: impl FnOnce() -> Option<[Option<pg_sys::Datum>; N]>,
    ) -> bool {
        // SAFETY: the context lives as long as the call; nothing in it is used after this.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.scratch);
            let row = make();
            let made = row.is_some();
            if let Some(row) = row {
                self.put(row);
            }
            pg_sys::MemoryContextSwitchTo(before);
            pg_sys::MemoryContextReset(self.scratch);
            made
        }
    }

    /// Adds a row; `None` is NULL.
    pub fn put<const N: usize>(&mut self, values: [Option<pg_sys::Datum>; N]) {
        // SAFETY: the result's descriptor.
        let columns = unsafe { (*self.columns).natts };
        assert_eq!(columns as usize, N, "result columns as declared");
        let mut datums = values.map(|v| v.unwrap_or(pg_sys::Datum::null()));
        let mut nulls = values.map(|v| v.is_none());
        // SAFETY: as many values as columns; they are copied.
        unsafe {
            pg_sys::tuplestore_putvalues(
                self.store,
                self.columns,
                datums.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
        }
    }
}

/// A text, in the database's encoding.
pub fn text_datum(text: &[u8]) -> pg_sys::Datum {
    // SAFETY: so many bytes are readable.
    pg_sys::Datum::from(unsafe {
        pg_sys::cstring_to_text_with_len(text.as_ptr().cast(), text.len() as i32)
    })
}

/// A new text of so many bytes, in the database's encoding, which `fill` writes.
pub fn new_text(len: usize, fill: impl FnOnce(&mut [u8])) -> pg_sys::Datum {
    let text = build(len, |bytes| {
        fill(bytes);
        Ok(())
    });
    pg_sys::Datum::from(text.or_raise())
}
