//! Tables whose first column is a key, a `bigint` with a B-tree index: rows are found, added and deleted without the
//! executor, so that no other code runs, whoever may have put some there, and no plan can be a slow one.

use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION;

use pg::catalog;
use pg::error::{raise, sql_error};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::row::Row;
use pg::{check_for_interrupts, ffi};

/// Where such a table is.
#[derive(Clone, Copy)]
pub struct KeyTable {
    pub oid: pg_sys::Oid,
    /// The index on its first column, or another one on a single column.
    pub index: pg_sys::Oid,
    /// By which function values of that column are equal, and its collation.
    pub equality: (pg_sys::Oid, pg_sys::Oid),
}

impl KeyTable {
    /// Opens it for reading.
    ///
    /// Errors: it has been dropped, or has no such index.
    pub fn read(&self, snapshot: pg_sys::Snapshot) -> KeyReader {
        if self.index == pg_sys::InvalidOid {
            let (name, quoted) = (catalog::name(self.oid), catalog::quoted(self.oid));
            let message = words!("table \"{name}\" of a register has no index on its keys");
            raise(
                &sql_error(ERRCODE_INVALID_OBJECT_DEFINITION, message)
                    .hint(words!("CREATE INDEX ON {quoted} (key)")),
            );
        }
        let lock = pg_sys::AccessShareLock;
        // Not until the end of the transaction: whoever asks and writes afterwards would block those who mend the register.
        let table = OpenRelation::table(self.oid, lock);
        let index = OpenRelation::index(self.index, lock);
        // SAFETY: both are open, and stay so longer than the scan. The key is set again before it is used: column 1 of
        // the index equals a bigint.
        unsafe {
            #[cfg(not(feature = "pg18"))]
            let scan = ffi::index_beginscan(table.pointer(), index.pointer(), snapshot, 1, 0);
            #[cfg(feature = "pg18")]
            let scan = ffi::index_beginscan(
                table.pointer(),
                index.pointer(),
                snapshot,
                std::ptr::null_mut(),
                1,
                0,
            );
            let slot = pg_sys::table_slot_create(table.pointer(), std::ptr::null_mut());
            let mut key = pg_sys::ScanKeyData::default();
            pg_sys::ScanKeyEntryInitialize(
                &mut key,
                0,
                1,
                pg_sys::BTEqualStrategyNumber as u16,
                pg_sys::InvalidOid,
                self.equality.1,
                self.equality.0,
                pg_sys::Datum::null(),
            );
            KeyReader {
                scan,
                slot,
                key,
                _index: index,
                table,
            }
        }
    }

    /// Opens it for writing.
    ///
    /// Errors: it has been dropped.
    pub fn write(&self) -> KeyWriter {
        let table = OpenRelation::table(self.oid, pg_sys::RowExclusiveLock).keep_lock();
        // SAFETY: the table is open, and its indexes are closed before it is.
        let indexes = unsafe { ffi::CatalogOpenIndexes(table.pointer()) };
        KeyWriter { table, indexes }
    }
}

/// Finds rows by their keys, as a snapshot sees them.
pub struct KeyReader {
    scan: pg_sys::IndexScanDesc,
    slot: *mut pg_sys::TupleTableSlot,
    key: pg_sys::ScanKeyData,
    _index: OpenRelation,
    table: OpenRelation,
}

/// A row that was found.
pub struct FoundRow {
    slot: *mut pg_sys::TupleTableSlot,
    table: pg_sys::Relation,
}

impl FoundRow {
    /// The row as a whole, as long as no other one is found.
    pub fn row(&self) -> Row {
        // SAFETY: the slot holds a row of the table, which the reader keeps open.
        unsafe { Row::new(self.table, self.slot, std::ptr::null_mut()) }
    }

    /// The second column; `None` for NULL. It is valid until the next row is found.
    pub fn id(&self) -> Option<pg_sys::Datum> {
        let mut null = false;
        // SAFETY: the slot holds a row; the server refuses the number of a column that there is not.
        let value = unsafe { pg_sys::slot_getattr(self.slot, 2, &mut null) };
        (!null).then_some(value)
    }

    /// Where it is.
    pub fn tid(&self) -> pg_sys::ItemPointerData {
        // SAFETY: the slot holds a row.
        unsafe { (*self.slot).tts_tid }
    }
}

impl KeyReader {
    /// Gives the rows of a key to `each`, until that returns false.
    pub fn each(&mut self, key: i64, each: impl FnMut(&FoundRow) -> bool) {
        self.each_of(pg_sys::Datum::from(key), each);
    }

    /// The same of a value of the index's column.
    pub fn each_of(&mut self, value: pg_sys::Datum, mut each: impl FnMut(&FoundRow) -> bool) {
        self.key.sk_argument = value;
        // SAFETY: the scan has begun with one key, which is copied. The slot is one of the table.
        unsafe {
            ffi::index_rescan(self.scan, &mut self.key, 1, std::ptr::null_mut(), 0);
            let forward = pg_sys::ScanDirection::ForwardScanDirection;
            while ffi::index_getnext_slot(self.scan, forward, self.slot) {
                check_for_interrupts();
                let table = self.table.pointer();
                if !each(&FoundRow {
                    slot: self.slot,
                    table,
                }) {
                    break;
                }
            }
            pg_sys::ExecClearTuple(self.slot);
        }
    }
}

impl Drop for KeyReader {
    fn drop(&mut self) {
        // After an error the server ends the scan, and frees the slot with its memory.
        if !std::thread::panicking() {
            // SAFETY: both were made by `read`, and only this ends them. The relations are closed afterwards.
            unsafe {
                ffi::index_endscan(self.scan);
                pg_sys::ExecDropSingleTupleTableSlot(self.slot);
            }
        }
    }
}

/// Adds and deletes rows.
pub struct KeyWriter {
    table: OpenRelation,
    indexes: pg_sys::CatalogIndexState,
}

impl KeyWriter {
    /// Adds a row of a key.
    pub fn add(&self, key: i64, id: Option<pg_sys::Datum>) {
        self.insert(&[Some(pg_sys::Datum::from(key)), id]);
    }

    /// Adds a row of these values, one for each column.
    pub fn insert(&self, values: &[Option<pg_sys::Datum>]) {
        self.with_row(values, |row| {
            // SAFETY: the table is open, and its indexes.
            unsafe { ffi::CatalogTupleInsertWithInfo(self.table.pointer(), row, self.indexes) };
        });
    }

    /// Has a row that a reader has found have these values, one for each column.
    ///
    /// Errors: another transaction has changed it meanwhile.
    pub fn update(&self, mut tid: pg_sys::ItemPointerData, values: &[Option<pg_sys::Datum>]) {
        self.with_row(values, |row| {
            // SAFETY: as above; the row is one of the table.
            unsafe {
                ffi::CatalogTupleUpdateWithInfo(self.table.pointer(), &mut tid, row, self.indexes);
            }
        });
    }

    fn with_row(&self, values: &[Option<pg_sys::Datum>], run: impl FnOnce(pg_sys::HeapTuple)) {
        let mut nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
        let or_null = |value: &Option<pg_sys::Datum>| value.unwrap_or(pg_sys::Datum::null());
        let mut values: Vec<pg_sys::Datum> = values.iter().map(or_null).collect();
        // SAFETY: the table is open, of heap, and has so many columns of the values' types, as was checked when it was
        // opened. The row is freed after it was copied to a page.
        unsafe {
            let columns = self.table.rd_att;
            let row = pg_sys::heap_form_tuple(columns, values.as_mut_ptr(), nulls.as_mut_ptr());
            run(row);
            pg_sys::heap_freetuple(row);
        }
    }

    /// Deletes a row that a reader has found.
    ///
    /// Errors: another transaction has deleted it meanwhile.
    pub fn delete(&self, mut tid: pg_sys::ItemPointerData) {
        // SAFETY: the table is open, and the row is one of it.
        unsafe { ffi::CatalogTupleDelete(self.table.pointer(), &mut tid) };
    }
}

impl Drop for KeyWriter {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: `write` has opened them, and only this closes them.
            unsafe { ffi::CatalogCloseIndexes(self.indexes) };
        }
    }
}
