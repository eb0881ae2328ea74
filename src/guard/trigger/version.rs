//! Versions of a row: which transaction has made one, whether it is still the newest, and which one is.

use crate::pg::ffi;
use pgrx::pg_sys;

/// Of a foreign table, whose rows come without system columns and have no versions.
///
/// SAFETY: `table` is open.
unsafe fn is_foreign(table: pg_sys::Relation) -> bool {
    // SAFETY: as promised by the caller.
    unsafe { (*table).rd_tableam.is_null() }
}

/// SAFETY: `slot` holds a row read from `table`.
pub unsafe fn is_of_this_transaction(
    table: pg_sys::Relation,
    slot: *mut pg_sys::TupleTableSlot,
) -> bool {
    let mut null = false;
    // SAFETY: as promised by the caller.
    unsafe {
        if is_foreign(table) {
            return false;
        }
        let number = pg_sys::MinTransactionIdAttributeNumber;
        let inserter = pg_sys::slot_getsysattr(slot, number, &mut null);
        let inserter = pg_sys::TransactionId::from(inserter.value() as u32);
        !null && pg_sys::TransactionIdIsCurrentTransactionId(inserter)
    }
}

/// Whether this version of the row is still the newest.
///
/// SAFETY: `slot` holds a row read from `table`.
pub unsafe fn is_live(table: pg_sys::Relation, slot: *mut pg_sys::TupleTableSlot) -> bool {
    // SAFETY: as promised by the caller; the snapshot is the server's, and constant.
    unsafe {
        let snapshot = &raw mut pg_sys::SnapshotSelfData;
        is_foreign(table) || pg_sys::table_tuple_satisfies_snapshot(table, slot, snapshot)
    }
}

/// The newest version of a row.
pub struct NewestVersion {
    pub slot: *mut pg_sys::TupleTableSlot,
}

impl NewestVersion {
    /// `None` if the row is deleted, or now in another partition.
    ///
    /// SAFETY: `slot` holds a row read from `table`, which stays open as long as this lives.
    pub unsafe fn of(
        table: pg_sys::Relation,
        slot: *mut pg_sys::TupleTableSlot,
    ) -> Option<NewestVersion> {
        // SAFETY: as promised by the caller.
        unsafe {
            let snapshot = &raw mut pg_sys::SnapshotSelfData;
            let mut tid = (*slot).tts_tid;
            let scan = ffi::table_beginscan_tid(table, snapshot);
            ffi::table_tuple_get_latest_tid(scan, &mut tid);
            ffi::table_endscan(scan);
            let newest = NewestVersion {
                slot: pg_sys::table_slot_create(table, std::ptr::null_mut()),
            };
            ffi::table_tuple_fetch_row_version(table, &mut tid, snapshot, newest.slot)
                .then_some(newest)
        }
    }
}

impl Drop for NewestVersion {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: made by of().
            unsafe { pg_sys::ExecDropSingleTupleTableSlot(self.slot) };
        }
    }
}
