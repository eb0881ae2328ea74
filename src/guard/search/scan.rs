//! A scan of a table for similar rows that sees what is not committed yet.

use pgrx::pg_sys;

use super::since::SearchStart;
use crate::guard::tables::key::attribute;
use crate::guard::tables::target::SearchTarget;
use crate::pg::{check_for_interrupts, ffi};
use crate::types::{Bloom, NewQuery};

/// A transaction that must end before it is known whether a row is there.
#[derive(Clone, Copy)]
pub struct PendingTransaction {
    pub transaction: pg_sys::TransactionId,
    /// 0, or that of an INSERT … ON CONFLICT that has not decided yet.
    pub speculative: u32,
}

enum ScanSource {
    Index(pg_sys::Relation, pg_sys::IndexScanDesc),
    /// Of all versions of all rows.
    Table(pg_sys::TableScanDesc),
}

/// What a scan has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    /// It is there, or may be: see [`DirtyScan::in_progress`].
    Present,
    /// A version that was there when the search began, and was deleted or updated meanwhile. The scan may have
    /// passed by the place of the new one before that was written.
    Gone,
}

/// The snapshot is written by the scan, for each row: who inserts or deletes it, if still in progress.
pub struct DirtyScan<'a> {
    target: &'a SearchTarget,
    since: &'a SearchStart,
    table: pg_sys::Relation,
    source: ScanSource,
    /// The place that the index has given last had a row.
    found: bool,
    pub slot: *mut pg_sys::TupleTableSlot,
    snapshot: *mut pg_sys::SnapshotData,
}

const FORWARD: pg_sys::ScanDirection::Type = pg_sys::ScanDirection::ForwardScanDirection;

impl<'a> DirtyScan<'a> {
    /// The target's table is locked.
    pub fn begin(
        target: &'a SearchTarget,
        signature: &Bloom<'_>,
        threshold: f64,
        since: &'a SearchStart,
    ) -> DirtyScan<'a> {
        // SAFETY: the table is locked, and has the index as long as it is; the snapshot lives as long as the
        // scan, in the memory of the current context.
        unsafe {
            let no_lock = pg_sys::NoLock as i32;
            let table = ffi::table_open(target.table, no_lock);
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            let snapshot: *mut pg_sys::SnapshotData =
                pg_sys::palloc0(size_of::<pg_sys::SnapshotData>()).cast();
            (*snapshot).snapshot_type = pg_sys::SnapshotType::SNAPSHOT_DIRTY;
            let source = match &target.index {
                None => {
                    let (all, keys) = (&raw mut pg_sys::SnapshotAnyData, std::ptr::null_mut());
                    ScanSource::Table(ffi::table_beginscan(table, all, 0, keys))
                }
                Some(index) => {
                    let open = ffi::index_open(index.oid, pg_sys::AccessShareLock as i32);
                    let mut key = pg_sys::ScanKeyData::default();
                    pg_sys::ScanKeyEntryInitialize(
                        &mut key,
                        0,
                        index.column,
                        index.strategy,
                        pg_sys::InvalidOid,
                        pg_sys::InvalidOid,
                        index.function,
                        NewQuery::new(&signature.view(), threshold).datum(),
                    );
                    #[cfg(not(feature = "pg18"))]
                    let scan = ffi::index_beginscan(table, open, snapshot, 1, 0);
                    #[cfg(feature = "pg18")]
                    let scan =
                        ffi::index_beginscan(table, open, snapshot, std::ptr::null_mut(), 1, 0);
                    ffi::index_rescan(scan, &mut key, 1, std::ptr::null_mut(), 0);
                    ScanSource::Index(open, scan)
                }
            };
            DirtyScan {
                target,
                since,
                table,
                source,
                found: false,
                slot,
                snapshot,
            }
        }
    }

    /// Goes to the next row that may be similar; `None` at the end.
    pub fn advance(&mut self) -> Option<RowState> {
        loop {
            check_for_interrupts();
            // SAFETY: begun, and not ended.
            let row = unsafe {
                match self.source {
                    ScanSource::Index(_, scan) => self.next_of_index(scan)?,
                    ScanSource::Table(scan) => {
                        if !ffi::table_scan_getnextslot(scan, FORWARD, self.slot) {
                            return None;
                        }
                        self.version()
                    }
                }
            };
            // The index's answer may be of a row whose place another one without a signature has taken.
            // SAFETY: the slot holds a version of a row.
            if row.is_some() && unsafe { attribute(self.slot, self.target.column) }.is_some() {
                return row;
            }
        }
    }

    /// What `index_getnext_slot` does, but for stopping at places whose rows are gone; the inner `None` for one of no
    /// interest.
    ///
    /// SAFETY: `scan` is begun, and not ended.
    unsafe fn next_of_index(&mut self, scan: pg_sys::IndexScanDesc) -> Option<Option<RowState>> {
        // SAFETY: as promised by the caller.
        unsafe {
            if !(*scan).xs_heap_continue {
                self.found = false;
                if ffi::index_getnext_tid(scan, FORWARD).is_null() {
                    return None;
                }
            }
            if ffi::index_fetch_heap(scan, self.slot) {
                self.found = true;
                return Some(Some(RowState::Present));
            }
            // what is dead to everybody has been so for longer
            if self.found || (*scan).kill_prior_tuple {
                return Some(None);
            }
            let (mut more, all) = (false, &raw mut pg_sys::SnapshotAnyData);
            loop {
                let fetch = (*scan).xs_heapfetch;
                let (tid, dead) = (&raw mut (*scan).xs_heaptid, std::ptr::null_mut());
                if !ffi::table_index_fetch_tuple(fetch, tid, all, self.slot, &mut more, dead) {
                    return Some(None);
                }
                // A newer version of the chain may have come since.
                let row = self.version();
                if row.is_some() {
                    return Some(row);
                }
            }
        }
    }

    /// What the version in the slot is.
    ///
    /// SAFETY: the slot holds a version of a row of the table.
    unsafe fn version(&mut self) -> Option<RowState> {
        // SAFETY: as promised by the caller.
        unsafe {
            if pg_sys::table_tuple_satisfies_snapshot(self.table, self.slot, self.snapshot) {
                Some(RowState::Present)
            } else {
                self.since.ended(self.slot).then_some(RowState::Gone)
            }
        }
    }

    /// Of the row that [`DirtyScan::advance`] went to.
    pub fn signature(&self) -> Bloom<'_> {
        // SAFETY: the slot holds a row with a signature.
        unsafe {
            let value = attribute(self.slot, self.target.column);
            Bloom::from_raw(value.expect("not NULL"))
        }
    }

    pub fn place(&self) -> pg_sys::ItemPointerData {
        // SAFETY: the slot holds the row last returned.
        unsafe { (*self.slot).tts_tid }
    }

    /// Who has not decided yet about the row last returned, if it is there.
    pub fn in_progress(&self) -> Option<PendingTransaction> {
        // SAFETY: written by the scan.
        let snapshot = unsafe { &*self.snapshot };
        let transaction = if snapshot.xmin != pg_sys::InvalidTransactionId {
            snapshot.xmin
        } else {
            snapshot.xmax
        };
        (transaction != pg_sys::InvalidTransactionId).then_some(PendingTransaction {
            transaction,
            speculative: snapshot.speculativeToken,
        })
    }
}

impl Drop for DirtyScan<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // the end of the transaction does it
            return;
        }
        // SAFETY: begun by begin(); locks stay until the end of the transaction.
        unsafe {
            match self.source {
                ScanSource::Index(index, scan) => {
                    ffi::index_endscan(scan);
                    pg_sys::index_close(index, pg_sys::NoLock as i32);
                }
                ScanSource::Table(scan) => ffi::table_endscan(scan),
            }
            pg_sys::ExecDropSingleTupleTableSlot(self.slot);
            pg_sys::table_close(self.table, pg_sys::NoLock as i32);
            pg_sys::pfree(self.snapshot.cast());
        }
    }
}
