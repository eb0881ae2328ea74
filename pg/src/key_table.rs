//! Tables whose first column is a key, a `bigint` with a B-tree index: rows are found, added and deleted without the
//! executor, so that no other code runs, whoever may have put some there, and no plan can be a slow one.

use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION;

use pg::catalog;
use pg::error::{raise, sql_error};
use pg::memory::{within, Scratch};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::row::Row;
use pg::snapshot::ScanSnapshot;
use pg::visibility::VisibilityMap;
use pg::{check_for_interrupts, ffi};

/// Where such a table is.
#[derive(Clone, Copy)]
pub struct KeyTable {
    pub oid: pg_sys::Oid,
    /// The index by which rows are found.
    pub index: pg_sys::Oid,
    /// The column that it begins with, and whether it is a unique one on that column alone.
    pub column: (i16, bool),
    /// Whether the index has the second column, too.
    pub is_covered: bool,
    /// By which function values of that column are equal, and its collation.
    pub equality: (pg_sys::Oid, pg_sys::Oid),
    /// The types of its columns, if it is a table that was made for this, else none; others are invalid OIDs.
    pub types: [pg_sys::Oid; MOST_COLUMNS],
}

/// An index of a table that begins with a column, and is unique on that alone if that is wanted; and whether it is one on the
/// first column that has the values of the second one as well.
pub fn index_on(
    table: &OpenRelation,
    (column, is_unique): (i16, bool),
) -> Option<(pg_sys::Oid, bool)> {
    let is_covered = |oid: pg_sys::Oid| {
        let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
        let of_type = |relation: &OpenRelation| relation.columns().nth(1).map(|c| c.atttypid);
        // SAFETY: an open index has its row of pg_index, with as many columns as it says.
        unsafe {
            let form = &*index.rd_index;
            let columns = form.indkey.values.as_slice(form.indnatts as usize);
            columns == [1, 2] && of_type(&index) == of_type(table)
        }
    };
    let all = table.btrees_on(column, is_unique).into_iter();
    let all = all.map(|(oid, _)| (is_covered(oid), oid));
    all.max_by_key(|&(is_covered, _)| is_covered)
        .map(|(is_covered, oid)| (oid, is_covered))
}

/// Columns of such a table at most.
pub const MOST_COLUMNS: usize = 7;

/// Types of columns, for [`KeyTable::types`].
pub fn types_of_columns(types: &[pg_sys::Oid]) -> [pg_sys::Oid; MOST_COLUMNS] {
    let mut all = [pg_sys::InvalidOid; MOST_COLUMNS];
    all[..types.len()].copy_from_slice(types);
    all
}

impl KeyTable {
    /// Opens it for reading.
    ///
    /// Errors: it has been dropped, or has no such index.
    pub fn read(&self, snapshot: &ScanSnapshot) -> KeyReader {
        // Not until the end of the transaction: whoever asks and writes afterwards would block those who mend the register.
        let table = OpenRelation::table(self.oid, pg_sys::AccessShareLock);
        self.check_columns(&table);
        // As long as the table is locked its indexes stay; what is known of them is older.
        let (index, is_covered) = match table.indexes().contains(&self.index) {
            true => (self.index, self.is_covered),
            false => index_on(&table, self.column).unwrap_or_else(|| self.raise_no_index()),
        };
        let index = OpenRelation::index(index, pg_sys::AccessShareLock);
        // SAFETY: both are open, and stay so longer than the scan. The key is set again before it is used: column 1 of
        // the index equals a bigint.
        unsafe {
            let of = snapshot.pointer();
            #[cfg(not(feature = "pg18"))]
            let scan = ffi::index_beginscan(table.pointer(), index.pointer(), of, 1, 0);
            #[cfg(feature = "pg18")]
            let scan = ffi::index_beginscan(
                table.pointer(),
                index.pointer(),
                of,
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
            (*scan).xs_want_itup = is_covered;
            KeyReader {
                memory: pg_sys::CurrentMemoryContext,
                scan,
                slot,
                key,
                all_seen: VisibilityMap::new(table.pointer()),
                _index: index,
                table,
                snapshot: snapshot.clone(),
            }
        }
    }

    fn raise_no_index(&self) -> ! {
        let (name, quoted) = (catalog::name(self.oid), catalog::quoted(self.oid));
        let column = catalog::column_name(self.oid, self.column.0);
        raise(
            &sql_error(
                ERRCODE_INVALID_OBJECT_DEFINITION,
                words!(
                    "table \"{name}\" has no index on \"{column}\", by which its rows are found"
                ),
            )
            .hint(words!("CREATE INDEX ON {quoted} ({column})")),
        )
    }

    /// Opens it for writing.
    ///
    /// Errors: it has been dropped, or is not as it was.
    pub fn write(&self) -> KeyWriter {
        let table = OpenRelation::table(self.oid, pg_sys::RowExclusiveLock).keep_lock();
        self.check_columns(&table);
        // SAFETY: the table is open, and its indexes are closed before it is. There are as many as the number says.
        let indexes = unsafe {
            let indexes = ffi::CatalogOpenIndexes(table.pointer());
            let (n, all) = ((*indexes).ri_NumIndices, (*indexes).ri_IndexRelationInfo);
            let is_plain = |info: &pg_sys::IndexInfo| {
                info.ii_Expressions.is_null()
                    && info.ii_Predicate.is_null()
                    && info.ii_ExclusionOps.is_null()
            };
            if !(0..n as usize).all(|i| is_plain(&**all.add(i))) {
                self.raise_changed("It has an index with an expression or a condition.");
            }
            indexes
        };
        KeyWriter {
            table,
            indexes,
            rows: Vec::new(),
            waiting: 0,
            // SAFETY: a variable of the server's.
            home: unsafe { pg_sys::CurrentMemoryContext },
            scratch: None,
        }
    }

    /// What was found out about the table may be older than the lock that it is opened with.
    ///
    /// Errors: it has other columns.
    fn check_columns(&self, table: &OpenRelation) {
        let types = self
            .types
            .iter()
            .filter(|&&of_type| of_type != pg_sys::InvalidOid);
        if self.types[0] == pg_sys::InvalidOid {
            return;
        }
        let of_type = |column: &pg_sys::FormData_pg_attribute| match column.attisdropped {
            true => pg_sys::InvalidOid,
            false => column.atttypid,
        };
        if !table.columns().map(of_type).eq(types.copied()) {
            self.raise_changed("It has other columns.");
        }
    }

    fn raise_changed(&self, detail: &'static str) -> ! {
        let name = catalog::name(self.oid);
        raise(
            &sql_error(
                ERRCODE_INVALID_OBJECT_DEFINITION,
                words!("table \"{name}\" is not as it was made"),
            )
            .detail(detail)
            .hint("Undo what was changed, or drop what it belongs to (a register, a table of entities) and make it anew."),
        )
    }
}

/// Rows of a key are in the order of their tids. What closes a block is written after all others of it, so whoever asks for
/// it finds it at once; and so does one who looks for what was just written.
const BACKWARD: pg_sys::ScanDirection::Type = pg_sys::ScanDirection::BackwardScanDirection;

/// Finds rows by their keys, as a snapshot sees them.
pub struct KeyReader {
    /// What the scan needs is of this, which lives as long as the reader.
    memory: pg_sys::MemoryContext,
    scan: pg_sys::IndexScanDesc,
    slot: *mut pg_sys::TupleTableSlot,
    key: pg_sys::ScanKeyData,
    /// Of which rows an index entry is enough.
    all_seen: VisibilityMap,
    _index: OpenRelation,
    table: OpenRelation,
    snapshot: ScanSnapshot,
}

/// A row that was found.
pub struct FoundRow<'r> {
    slot: *mut pg_sys::TupleTableSlot,
    table: pg_sys::Relation,
    snapshot: &'r ScanSnapshot,
}

impl FoundRow<'_> {
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

    /// The transaction that enters it, if that has not ended and is another one.
    pub fn inserter(&self) -> Option<pg_sys::TransactionId> {
        // SAFETY: as above.
        let inserter = self
            .snapshot
            .as_dirty()
            .map(|dirty| unsafe { (*dirty).xmin });
        inserter.filter(|&inserter| inserter != pg_sys::InvalidTransactionId)
    }

    /// Where it is.
    pub fn tid(&self) -> pg_sys::ItemPointerData {
        // SAFETY: the slot holds a row.
        unsafe { (*self.slot).tts_tid }
    }
}

impl KeyReader {
    /// Goes to the rows of a value of the index's column.
    pub fn seek(&mut self, value: pg_sys::Datum) {
        self.key.sk_argument = value;
        // SAFETY: the scan has begun with one key, which is copied.
        unsafe {
            within(self.memory, || {
                ffi::index_rescan(self.scan, &mut self.key, 1, std::ptr::null_mut(), 0);
            });
        }
    }

    /// The second column of the next row, as the index has it, without a look at the table: the row may be gone, but none is
    /// missing. `None` at the end. It is valid until the next row is asked for.
    pub fn next_entry(&mut self) -> Option<Option<pg_sys::Datum>> {
        check_for_interrupts();
        // SAFETY: the scan has begun, and the slot is one of the table. An entry of an index on both columns stays until the
        // next one is asked for.
        unsafe {
            if !(*self.scan).xs_want_itup {
                return self.next_slot().then(|| self.found().id());
            }
            if within(self.memory, || ffi::index_getnext_tid(self.scan, BACKWARD)).is_null() {
                return None;
            }
            let (mut values, mut nulls) = ([pg_sys::Datum::null(); 2], [false; 2]);
            let (entry, columns) = ((*self.scan).xs_itup, (*self.scan).xs_itupdesc);
            let (to, is_null) = (values.as_mut_ptr(), nulls.as_mut_ptr());
            pg_sys::index_deform_tuple(entry, columns, to, is_null);
            Some((!nulls[1]).then_some(values[1]))
        }
    }

    /// The second column of the next row that the snapshot sees. `None` at the end. It is valid until the next row is asked
    /// for. A dirty snapshot learns who enters the row, but not who deletes it. Serializable transactions lock no page of
    /// keys that all see: they read the records that keys lead to, and whoever takes a key away changes its record.
    pub fn next_seen(&mut self) -> Option<Option<pg_sys::Datum>> {
        loop {
            let id = self.next_entry()?;
            // SAFETY: the scan is at an entry. While it reads an index with the second column, it keeps the page of the entry
            // pinned, so VACUUM does not take it from there.
            let tid = unsafe { (*self.scan).xs_heaptid };
            if self.all_seen.all_see(tid.into()) {
                if let Some(dirty) = self.snapshot.as_dirty() {
                    // SAFETY: as long as the scan.
                    unsafe { (*dirty).xmin = pg_sys::InvalidTransactionId };
                }
                return Some(id);
            }
            if self.is_seen() {
                return Some(id);
            }
        }
    }

    /// Whether the snapshot sees the row of which [`KeyReader::next_entry`] has told.
    pub fn is_seen(&mut self) -> bool {
        // SAFETY: the scan is at an entry; the slot is one of the table.
        unsafe { !(*self.scan).xs_want_itup || ffi::index_fetch_heap(self.scan, self.slot) }
    }

    /// # Safety
    /// The scan has begun.
    unsafe fn next_slot(&mut self) -> bool {
        // SAFETY: the caller's; the slot is one of the table.
        unsafe {
            within(self.memory, || {
                ffi::index_getnext_slot(self.scan, BACKWARD, self.slot)
            })
        }
    }

    /// As [`FoundRow::inserter`] of the row that [`KeyReader::next_seen`] or [`KeyReader::is_seen`] has told of.
    pub fn inserter(&self) -> Option<pg_sys::TransactionId> {
        self.found().inserter()
    }

    fn found(&self) -> FoundRow<'_> {
        FoundRow {
            slot: self.slot,
            table: self.table.pointer(),
            snapshot: &self.snapshot,
        }
    }

    /// Gives the rows of a key to `each`, until that returns false; mostly what was added last comes first.
    pub fn each(&mut self, key: i64, each: impl FnMut(&FoundRow) -> bool) {
        self.each_of(pg_sys::Datum::from(key), each);
    }

    /// The same of a value of the index's column.
    pub fn each_of(&mut self, value: pg_sys::Datum, mut each: impl FnMut(&FoundRow) -> bool) {
        self.seek(value);
        // SAFETY: the scan has begun. The slot is one of the table.
        unsafe {
            while self.next_slot() {
                check_for_interrupts();
                if !each(&self.found()) {
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

/// Rows that are written together at most.
pub const TOGETHER: usize = 64;

/// Adds and deletes rows.
pub struct KeyWriter {
    table: OpenRelation,
    indexes: pg_sys::CatalogIndexState,
    /// Rows that are to be added, as many of them as `waiting` says.
    rows: Vec<*mut pg_sys::TupleTableSlot>,
    waiting: usize,
    /// Where it was opened: what is kept from one row to the next must not be in the memory of a row.
    home: pg_sys::MemoryContext,
    /// For who writes many times: the server leaves a few bytes of each row that is written.
    scratch: Option<Scratch>,
}

impl KeyWriter {
    /// Adds a row of a key, at [`KeyWriter::write`] at the latest.
    pub fn add(&mut self, key: i64, id: Option<pg_sys::Datum>) {
        self.insert(&[Some(pg_sys::Datum::from(key)), id]);
    }

    /// Adds a row of these values, one for each column, at [`KeyWriter::write`] at the latest.
    pub fn insert(&mut self, values: &[Option<pg_sys::Datum>]) {
        // SAFETY: the context lives as long as this. The slot is of the table. The row is the slot's, which frees it.
        unsafe {
            let row = within(self.home, || self.row(values));
            if self.waiting == self.rows.len() {
                let (columns, of_heap) = (self.table.rd_att, &raw const pg_sys::TTSOpsHeapTuple);
                let slot = || pg_sys::MakeSingleTupleTableSlot(columns, of_heap);
                self.rows.push(within(self.home, slot));
            }
            pg_sys::ExecStoreHeapTuple(row, self.rows[self.waiting], true);
        }
        self.waiting += 1;
        if self.waiting == TOGETHER {
            let scratch = self.scratch.take();
            let made = || Scratch::new(c"rows of a table of keys");
            // SAFETY: the context lives as long as this.
            let mut scratch = scratch.unwrap_or_else(|| unsafe { within(self.home, made) });
            scratch.with(|| self.write());
            self.scratch = Some(scratch);
        }
    }

    /// Has a row that a reader has found have these values, one for each column.
    ///
    /// Errors: another transaction has changed it meanwhile.
    pub fn update(&self, mut tid: pg_sys::ItemPointerData, values: &[Option<pg_sys::Datum>]) {
        let row = self.row(values);
        // SAFETY: the table is open, and its indexes; the row is one of it, and is copied to a page.
        unsafe {
            ffi::CatalogTupleUpdateWithInfo(self.table.pointer(), &mut tid, row, self.indexes);
            pg_sys::heap_freetuple(row);
        }
    }

    fn row(&self, values: &[Option<pg_sys::Datum>]) -> pg_sys::HeapTuple {
        let mut nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
        let or_null = |value: &Option<pg_sys::Datum>| value.unwrap_or(pg_sys::Datum::null());
        let mut values: Vec<pg_sys::Datum> = values.iter().map(or_null).collect();
        // SAFETY: the table is open, of heap, and has so many columns of the values' types, as was checked when it was
        // looked at.
        unsafe {
            let columns = self.table.rd_att;
            pg_sys::heap_form_tuple(columns, values.as_mut_ptr(), nulls.as_mut_ptr())
        }
    }

    /// Writes the rows that were added: as many at once as a page has room for, which is one record of WAL.
    pub fn write(&mut self) {
        let n = std::mem::take(&mut self.waiting);
        if n == 0 {
            return;
        }
        let table = self.table.pointer();
        // SAFETY: the table is open, of heap, and so are its indexes, of which there are as many as the number says. The slots
        // hold rows of the table, and know where these are once they are written.
        unsafe {
            let (rows, none) = (self.rows.as_mut_ptr(), std::ptr::null_mut());
            let command = pg_sys::GetCurrentCommandId(true);
            ffi::heap_multi_insert(table, rows, n as i32, command, 0, none);
            for &row in &self.rows[..n] {
                self.index(row);
                pg_sys::ExecClearTuple(row);
            }
        }
    }

    /// Adds the index entries of a row, as the server does for rows of its catalogs. That takes the row for one that is not
    /// too long for a page; one that was, is where the slot says.
    ///
    /// # Safety
    /// The row was written.
    unsafe fn index(&self, row: *mut pg_sys::TupleTableSlot) {
        const MOST: usize = pg_sys::INDEX_MAX_KEYS as usize;
        let (mut values, mut nulls) = ([pg_sys::Datum::null(); MOST], [false; MOST]);
        let (values, nulls) = (values.as_mut_ptr(), nulls.as_mut_ptr());
        // SAFETY: the caller's. An index has no more columns than there are places. None has an expression, or a condition.
        unsafe {
            let all = &*self.indexes;
            for i in 0..all.ri_NumIndices as usize {
                let index = *all.ri_IndexRelationDescs.add(i);
                let info = *all.ri_IndexRelationInfo.add(i);
                if !(*info).ii_ReadyForInserts {
                    continue;
                }
                ffi::FormIndexDatum(info, row, std::ptr::null_mut(), values, nulls);
                let check = match (*(*index).rd_index).indisunique {
                    true => pg_sys::IndexUniqueCheck::UNIQUE_CHECK_YES,
                    false => pg_sys::IndexUniqueCheck::UNIQUE_CHECK_NO,
                };
                let (tid, table) = (&raw mut (*row).tts_tid, self.table.pointer());
                ffi::index_insert(index, values, nulls, tid, table, check, false, info);
            }
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
            // SAFETY: `write` of the table has opened the indexes, and only this closes them; so with the slots.
            unsafe {
                let slots = self.rows.iter();
                slots.for_each(|&slot| pg_sys::ExecDropSingleTupleTableSlot(slot));
                self.scratch.take().into_iter().for_each(Scratch::delete);
                ffi::CatalogCloseIndexes(self.indexes);
            }
        }
    }
}
