//! Rows that a function keeps for later statements of its own: in memory, and on disk above work_mem.

use std::ffi::CStr;

use pgrx::pg_sys;

use super::QueryRow;

/// A column of a store.
#[derive(Clone, Copy)]
pub struct StoreColumn {
    pub type_oid: pg_sys::Oid,
    pub typmod: i32,
    pub collation: pg_sys::Oid,
}

impl StoreColumn {
    /// A column of a type without modifier; texts are ordered by their bytes.
    pub fn plain(type_oid: pg_sys::Oid) -> StoreColumn {
        StoreColumn {
            type_oid,
            typmod: -1,
            // SAFETY: a catalog look-up of a type that exists.
            collation: match unsafe { pg_sys::type_is_collatable(type_oid) } {
                true => pg_sys::C_COLLATION_OID,
                false => pg_sys::InvalidOid,
            },
        }
    }
}

/// The rows. They live in the memory context in which the store was made.
pub struct TupleStore {
    store: *mut pg_sys::Tuplestorestate,
    columns: pg_sys::TupleDesc,
    width: usize,
    rows: u64,
}

impl TupleStore {
    /// An empty store with these columns.
    pub fn new<'a>(columns: impl ExactSizeIterator<Item = (&'a CStr, StoreColumn)>) -> TupleStore {
        let width = columns.len();
        // SAFETY: a descriptor with as many columns as are entered, of types that exist; their names are copied. The
        // store is for a statement that goes on.
        unsafe {
            let descriptor = pg_sys::CreateTemplateTupleDesc(width as i32);
            for (i, (name, column)) in columns.enumerate() {
                let number = i as i16 + 1;
                let StoreColumn {
                    type_oid,
                    typmod,
                    collation,
                } = column;
                pg_sys::TupleDescInitEntry(descriptor, number, name.as_ptr(), type_oid, typmod, 0);
                pg_sys::TupleDescInitEntryCollation(descriptor, number, collation);
            }
            TupleStore {
                store: pg_sys::tuplestore_begin_heap(true, false, pg_sys::work_mem),
                columns: descriptor,
                width,
                rows: 0,
            }
        }
    }

    /// An empty store for the rows of a query.
    ///
    /// # Safety
    /// `columns` is a descriptor, which is copied.
    pub unsafe fn of_rows(columns: pg_sys::TupleDesc) -> TupleStore {
        // SAFETY: the caller's. The store is for a statement that goes on.
        unsafe {
            TupleStore {
                store: pg_sys::tuplestore_begin_heap(true, false, pg_sys::work_mem),
                columns: pg_sys::CreateTupleDescCopy(columns),
                width: (*columns).natts as usize,
                rows: 0,
            }
        }
    }

    /// Adds a row of a query whose columns are those of the store. It is copied.
    pub fn put_row(&mut self, row: QueryRow<'_>) {
        // SAFETY: a row with the columns of the store.
        unsafe { pg_sys::tuplestore_puttuple(self.store, row.tuple()) };
        self.rows += 1;
    }

    /// Adds a row; `None` is NULL. The values are copied.
    pub fn put(&mut self, values: &[Option<pg_sys::Datum>]) {
        assert_eq!(values.len(), self.width, "columns of the store");
        let mut datums: Vec<pg_sys::Datum> = values
            .iter()
            .map(|value| value.unwrap_or(pg_sys::Datum::null()))
            .collect();
        let mut nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
        // SAFETY: as many values as columns, of their types.
        unsafe {
            pg_sys::tuplestore_putvalues(
                self.store,
                self.columns,
                datums.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
        }
        self.rows += 1;
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The server's form of it.
    pub fn pointer(&self) -> *mut pg_sys::Tuplestorestate {
        self.store
    }

    /// What its columns are.
    pub fn columns(&self) -> pg_sys::TupleDesc {
        self.columns
    }
}

impl Drop for TupleStore {
    fn drop(&mut self) {
        // After an error the server frees memory and files itself.
        if !std::thread::panicking() {
            // SAFETY: nobody else ends the store, and the session that reads it was borrowed from before.
            unsafe { pg_sys::tuplestore_end(self.store) };
        }
    }
}
