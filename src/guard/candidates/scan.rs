//! A scan of a table for similar rows, which also sees rows that are not committed, and which rows have been changed
//! since a search began.
//!
//! A row that is updated without change of its signature moves, and is not checked. A search that reads the row's new
//! tid before the new version is written, and its old tid after the update is committed, would miss the row.

use pgrx::pg_sys;

use super::index::{IndexKey, SearchIndex, SearchTarget};
use super::SearchedRow;
use pg::memory::Scratch;
use pg::relation::OpenRelation;
use pg::row::{header, FetchedRow};
use pg::snapshot::dirty;
use pg::tid::Tid;
use pg::waiting::PendingTransaction;
use pg::{check_for_interrupts, ffi};

/// Where the rows come from.
enum ScanSource {
    Index {
        scan: pg_sys::IndexScanDesc,
        /// What is compared with the index's columns, and at which place of it the query is.
        keys: Vec<pg_sys::ScanKeyData>,
        query: usize,
        /// Stays open as long as the scan runs.
        _index: OpenRelation,
    },
    /// All versions of all rows of the table.
    Table(pg_sys::TableScanDesc),
}

/// Whether a row is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    /// It is there, or may be: see [`DirtyScan::in_progress`].
    Present,
    /// The version was there when the search began, and was deleted or updated since. If it was updated, the scan may
    /// have read the tid of the new version before that was written.
    Gone,
}

/// A scan with a dirty snapshot. The scan writes into the snapshot which transaction inserts or deletes a row, if that
/// transaction is still in progress.
pub struct DirtyScan<'a> {
    target: &'a SearchTarget,
    /// What is searched for.
    wanted: SearchedRow<'a>,
    start: &'a SearchStart,
    /// What comparisons allocate, if values are compared.
    scratch: Option<Scratch>,
    source: ScanSource,
    /// Whether the tid that the index gave last has led to a row.
    is_found: bool,
    /// The candidate that [`DirtyScan::advance`] went to.
    pub row: FetchedRow,
    /// Keeps the table open as long as the scan runs, and the row's slot lives.
    _table: OpenRelation,
    snapshot: *mut pg_sys::SnapshotData,
}

const FORWARD: pg_sys::ScanDirection::Type = pg_sys::ScanDirection::ForwardScanDirection;

impl<'a> DirtyScan<'a> {
    /// Nothing is found before [`DirtyScan::seek`]. The target's table is locked.
    pub fn begin(
        target: &'a SearchTarget,
        wanted: SearchedRow<'a>,
        start: &'a SearchStart,
    ) -> DirtyScan<'a> {
        let table = OpenRelation::locked_table(target.table.oid);
        // SAFETY: the table is open, and the slot is made for it. The snapshot
        // is freed when the scan has ended.
        unsafe {
            let row = FetchedRow::none(table.pointer());
            let snapshot = dirty().pointer();
            let source = match &target.index {
                None => {
                    let (all, keys) = (&raw mut pg_sys::SnapshotAnyData, std::ptr::null_mut());
                    ScanSource::Table(ffi::table_beginscan(table.pointer(), all, 0, keys))
                }
                Some(index) => index_source(&table, index, wanted.within, snapshot),
            };
            DirtyScan {
                target,
                wanted,
                start,
                scratch: (!wanted.within.is_empty())
                    .then(|| Scratch::new(c"bloom_ident values of rows")),
                row,
                _table: table,
                source,
                is_found: false,
                snapshot,
            }
        }
    }

    /// From now on the rows are those that `query` finds, which is one of the row's. A table without an index has only one
    /// scan of all its rows.
    pub fn seek(&mut self, query: pg_sys::Datum) {
        if let ScanSource::Index {
            scan,
            keys,
            query: place,
            ..
        } = &mut self.source
        {
            keys[*place].sk_argument = query;
            let (n, none) = (keys.len() as i32, std::ptr::null_mut());
            // SAFETY: the scan has begun, with as many keys. The server copies the keys, and what they point to lives in the
            // current memory context, or as long as the row that is searched for.
            unsafe { ffi::index_rescan(*scan, keys.as_mut_ptr(), n, none, 0) };
        }
    }

    /// Goes to the next row that may be similar; `None` at the end.
    pub fn advance(&mut self) -> Option<RowState> {
        loop {
            check_for_interrupts();
            // SAFETY: the scan has begun, and `drop` ends it. The slot is made for the table.
            let state = unsafe {
                match self.source {
                    ScanSource::Index { scan, .. } => self.next_of_index(scan)?,
                    ScanSource::Table(scan) => {
                        if !ffi::table_scan_getnextslot(scan, FORWARD, self.row.slot) {
                            return None;
                        }
                        self.state_of_version()
                    }
                }
            };
            if state.is_some() && self.is_to_compare() {
                return state;
            }
        }
    }

    /// Whether the row in the slot has a signature, and the values that are wanted. The index may give the tid of a row
    /// that is gone, and another row may have it now.
    fn is_to_compare(&mut self) -> bool {
        let (target, row, values) = (self.target, &self.row, self.wanted.within);
        // SAFETY: the values are of the columns' types.
        let is_equal = || unsafe { target.table.within.is_equal(row, values) };
        let mut scratch = self.scratch.as_mut();
        row.get(target.table.signature.number).is_some()
            && scratch
                .as_mut()
                .is_none_or(|scratch| scratch.with(is_equal))
    }

    /// What `index_getnext_slot` does, except that it also stops at tids whose rows are gone. The inner `None` is for a
    /// row of no interest.
    ///
    /// # Safety
    /// `scan` is this scan's, so it has begun and has not ended.
    unsafe fn next_of_index(&mut self, scan: pg_sys::IndexScanDesc) -> Option<Option<RowState>> {
        // SAFETY: the scan has begun and has not ended. The slot is made for the table, and SnapshotAny is a constant
        // of the server's.
        unsafe {
            if !(*scan).xs_heap_continue {
                self.is_found = false;
                if ffi::index_getnext_tid(scan, FORWARD).is_null() {
                    return None;
                }
            }
            if ffi::index_fetch_heap(scan, self.row.slot) {
                self.is_found = true;
                return Some(Some(RowState::Present));
            }
            // A row that is dead to all transactions has been dead since before the search began.
            if self.is_found || (*scan).kill_prior_tuple {
                return Some(None);
            }
            let (mut more, all) = (false, &raw mut pg_sys::SnapshotAnyData);
            loop {
                let fetch = (*scan).xs_heapfetch;
                let (tid, dead) = (&raw mut (*scan).xs_heaptid, std::ptr::null_mut());
                if !ffi::table_index_fetch_tuple(fetch, tid, all, self.row.slot, &mut more, dead) {
                    return Some(None);
                }
                // A newer version of the chain may have been written meanwhile, or may have other values.
                let state = self.state_of_version();
                if state.is_some() && self.is_to_compare() {
                    return Some(state);
                }
            }
        }
    }

    /// The state of the version in the slot, `None` if it is of no interest.
    ///
    /// # Safety
    /// The slot holds a version of a row of the table.
    unsafe fn state_of_version(&mut self) -> Option<RowState> {
        let table = self.row.table;
        // SAFETY: the slot holds a version of a row of the table, which is open. The snapshot lives as long as the
        // scan.
        unsafe {
            if pg_sys::table_tuple_satisfies_snapshot(table, self.row.slot, self.snapshot) {
                Some(RowState::Present)
            } else {
                let is_gone = self.start.was_ended_since(self.row.slot);
                is_gone.then_some(RowState::Gone)
            }
        }
    }

    /// The tid of the row that [`DirtyScan::advance`] went to.
    pub fn tid(&self) -> Tid {
        // SAFETY: the slot lives as long as the scan.
        unsafe { (*self.row.slot).tts_tid }.into()
    }

    /// The transaction that has not decided yet about that row, if the row is there.
    pub fn in_progress(&self) -> Option<PendingTransaction> {
        // SAFETY: the snapshot lives as long as the scan.
        let snapshot = unsafe { &*self.snapshot };
        let mut both = [snapshot.xmin, snapshot.xmax].into_iter();
        both.find(|x| *x != pg_sys::InvalidTransactionId)
            .map(|transaction| PendingTransaction {
                transaction,
                speculative: snapshot.speculativeToken,
            })
    }
}

/// A scan of an index for the rows that queries find. Those of other values than `within` may be left out.
///
/// # Safety
/// The table outlives the scan, and so does the snapshot, which is a dirty one. The queries are of the signatures' type.
/// The index is one of the table's, and `within` are values of the columns in which rows must be equal.
unsafe fn index_source(
    table: &OpenRelation,
    index: &SearchIndex,
    within: &[pg_sys::Datum],
    snapshot: pg_sys::Snapshot,
) -> ScanSource {
    let open = OpenRelation::index(index.oid, pg_sys::AccessShareLock).keep_lock();
    let (table, relation) = (table.pointer(), open.pointer());
    // SAFETY: table and index are open. The keys are of the operators that the index was chosen for.
    unsafe {
        let key = |by: &IndexKey, value| {
            let (mut key, any) = (pg_sys::ScanKeyData::default(), pg_sys::InvalidOid);
            let (column, strategy) = (by.column, by.strategy);
            let (function, collation) = (by.function, by.collation);
            pg_sys::ScanKeyEntryInitialize(
                &mut key, 0, column, strategy, any, collation, function, value,
            );
            key
        };
        let equal = index.equal.iter();
        let equal = equal.map(|(by, place)| key(by, within[*place]));
        let mut keys: Vec<pg_sys::ScanKeyData> = equal.collect();
        let before = |key: &pg_sys::ScanKeyData| key.sk_attno < index.signature.column;
        keys.sort_by_key(|key| key.sk_attno);
        let query = keys.partition_point(before);
        keys.insert(query, key(&index.signature, pg_sys::Datum::null()));
        let n = keys.len() as i32;
        #[cfg(not(feature = "pg18"))]
        let scan = ffi::index_beginscan(table, relation, snapshot, n, 0);
        #[cfg(feature = "pg18")]
        let scan = ffi::index_beginscan(table, relation, snapshot, std::ptr::null_mut(), n, 0);
        ScanSource::Index {
            scan,
            keys,
            query,
            _index: open,
        }
    }
}

impl Drop for DirtyScan<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The server ends the scan at the end of the transaction.
            return;
        }
        // SAFETY: `begin` has begun the scan and made the slot and the snapshot, and only this ends and frees them. The
        // relations are closed afterwards.
        unsafe {
            match self.source {
                ScanSource::Index { scan, .. } => ffi::index_endscan(scan),
                ScanSource::Table(scan) => ffi::table_endscan(scan),
            }
            pg_sys::pfree(self.snapshot.cast());
            if let Some(scratch) = self.scratch.take() {
                scratch.delete();
            }
        }
    }
}

/// The moment when a search began: a snapshot that was taken then.
pub struct SearchStart(pg_sys::Snapshot);

impl SearchStart {
    /// Now: changes that are committed from here on are those since the search began.
    pub fn now() -> SearchStart {
        // SAFETY: a trigger runs in a transaction. The registered copy stays until `drop` gives it back.
        SearchStart(unsafe { pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()) })
    }

    /// Whether another transaction has deleted or updated this version of a row, and has been committed, since then.
    ///
    /// # Safety
    /// `slot` holds a version of a row.
    pub unsafe fn was_ended_since(&self, slot: *mut pg_sys::TupleTableSlot) -> bool {
        // SAFETY: a slot of this kind holds the tuple itself with its header, in a buffer that it has pinned. The
        // snapshot is registered.
        unsafe {
            if !std::ptr::eq((*slot).tts_ops, &raw const pg_sys::TTSOpsBufferHeapTuple) {
                return false;
            }
            updater(header(slot)).is_some_and(|updater| {
                pg_sys::XidInMVCCSnapshot(updater, self.0)
                    && !pg_sys::TransactionIdIsCurrentTransactionId(updater)
                    && pg_sys::TransactionIdDidCommit(updater)
            })
        }
    }
}

impl Drop for SearchStart {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: `now` has registered it, under the resource owner that is still the current one.
            unsafe { pg_sys::UnregisterSnapshot(self.0) };
        }
    }
}

/// The transaction that has deleted or updated a tuple, as far as is known; as HeapTupleHeaderGetUpdateXid() has it.
///
/// # Safety
/// `header` is that of a tuple in a pinned buffer.
pub unsafe fn updater(header: pg_sys::HeapTupleHeader) -> Option<pg_sys::TransactionId> {
    // SAFETY: the buffer is pinned, so the header is readable.
    unsafe {
        let mask = u32::from((*header).t_infomask);
        let is_multi = mask & pg_sys::HEAP_XMAX_IS_MULTI != 0;
        let is_locked_only = mask & pg_sys::HEAP_XMAX_LOCK_ONLY != 0
            || !is_multi && mask & pg_sys::HEAP_LOCK_MASK == pg_sys::HEAP_XMAX_EXCL_LOCK;
        if mask & pg_sys::HEAP_XMAX_INVALID != 0 || is_locked_only {
            return None;
        }
        let updater = if is_multi {
            pg_sys::HeapTupleGetUpdateXid(header)
        } else {
            (*header).t_choice.t_heap.t_xmax
        };
        (updater != pg_sys::InvalidTransactionId).then_some(updater)
    }
}
