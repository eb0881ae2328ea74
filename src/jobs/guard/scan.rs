//! A scan of a table for similar rows that sees what is not committed yet.

use pgrx::pg_sys;

use super::key::attribute;
use super::target::Target;
use crate::types::{Bloom, NewQuery};

/// A transaction that must end before it is known whether a row is there.
#[derive(Clone, Copy)]
pub struct InProgress {
    pub transaction: pg_sys::TransactionId,
    /// 0, or that of an INSERT … ON CONFLICT that has not decided yet.
    pub speculative: u32,
}

enum Rows {
    Index(pg_sys::Relation, pg_sys::IndexScanDesc),
    Table(pg_sys::TableScanDesc),
}

/// The snapshot is written by the scan, for each row: who inserts or deletes it, if still in progress.
pub struct Scan<'a> {
    target: &'a Target,
    table: pg_sys::Relation,
    rows: Rows,
    pub slot: *mut pg_sys::TupleTableSlot,
    snapshot: *mut pg_sys::SnapshotData,
}

const FORWARD: pg_sys::ScanDirection::Type = pg_sys::ScanDirection::ForwardScanDirection;

impl<'a> Scan<'a> {
    /// The target's table is locked.
    pub fn begin(target: &'a Target, signature: &Bloom<'_>, threshold: f64) -> Scan<'a> {
        // SAFETY: the table is locked, and has the index as long as it is; the snapshot lives as long as the
        // scan, in the memory of the current context.
        unsafe {
            let no_lock = pg_sys::NoLock as i32;
            let table = pg_sys::table_open(target.table, no_lock);
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            let snapshot: *mut pg_sys::SnapshotData =
                pg_sys::palloc0(size_of::<pg_sys::SnapshotData>()).cast();
            (*snapshot).snapshot_type = pg_sys::SnapshotType::SNAPSHOT_DIRTY;
            let rows = match &target.index {
                None => {
                    let keys = std::ptr::null_mut();
                    Rows::Table(pg_sys::table_beginscan(table, snapshot, 0, keys))
                }
                Some(index) => {
                    let open = pg_sys::index_open(index.oid, pg_sys::AccessShareLock as i32);
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
                    let scan = pg_sys::index_beginscan(table, open, snapshot, 1, 0);
                    #[cfg(feature = "pg18")]
                    let scan =
                        pg_sys::index_beginscan(table, open, snapshot, std::ptr::null_mut(), 1, 0);
                    pg_sys::index_rescan(scan, &mut key, 1, std::ptr::null_mut(), 0);
                    Rows::Index(open, scan)
                }
            };
            Scan {
                target,
                table,
                rows,
                slot,
                snapshot,
            }
        }
    }

    /// Goes to the next row that may be similar; false at the end.
    pub fn advance(&mut self) -> bool {
        loop {
            pgrx::check_for_interrupts!();
            // SAFETY: begun, and not ended.
            unsafe {
                let more = match self.rows {
                    Rows::Index(_, scan) => pg_sys::index_getnext_slot(scan, FORWARD, self.slot),
                    Rows::Table(scan) => pg_sys::table_scan_getnextslot(scan, FORWARD, self.slot),
                };
                // The index's answer may be of a row whose place another one without a signature has taken.
                if !more || attribute(self.slot, self.target.column).is_some() {
                    return more;
                }
            }
        }
    }

    /// Of the row that [`Scan::advance`] went to.
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

    /// Who has not decided yet about the row last returned.
    pub fn in_progress(&self) -> Option<InProgress> {
        // SAFETY: written by the scan.
        let snapshot = unsafe { &*self.snapshot };
        let transaction = if snapshot.xmin != pg_sys::InvalidTransactionId {
            snapshot.xmin
        } else {
            snapshot.xmax
        };
        (transaction != pg_sys::InvalidTransactionId).then_some(InProgress {
            transaction,
            speculative: snapshot.speculativeToken,
        })
    }
}

impl Drop for Scan<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // the end of the transaction does it
            return;
        }
        // SAFETY: begun by begin(); locks stay until the end of the transaction.
        unsafe {
            match self.rows {
                Rows::Index(index, scan) => {
                    pg_sys::index_endscan(scan);
                    pg_sys::index_close(index, pg_sys::NoLock as i32);
                }
                Rows::Table(scan) => pg_sys::table_endscan(scan),
            }
            pg_sys::ExecDropSingleTupleTableSlot(self.slot);
            pg_sys::table_close(self.table, pg_sys::NoLock as i32);
            pg_sys::pfree(self.snapshot.cast());
        }
    }
}
