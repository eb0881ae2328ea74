//! Versions of a row: which transaction has made one, whether it is still the newest, and which one is.

use pgrx::pg_sys;

use pg::ffi;

/// Whether a table is foreign: its rows come without system columns, and have no versions.
///
/// # Safety
/// `table` is open.
unsafe fn is_foreign(table: pg_sys::Relation) -> bool {
    // SAFETY: an open table is in the relation cache. A foreign table has no access method.
    unsafe { (*table).rd_tableam.is_null() }
}

/// Whether this transaction has made the version in the slot.
///
/// # Safety
/// `slot` holds a row read from `table`, which is open.
pub unsafe fn is_of_this_transaction(
    table: pg_sys::Relation,
    slot: *mut pg_sys::TupleTableSlot,
) -> bool {
    let mut null = false;
    // SAFETY: the slot holds a row of a table that is not foreign, so it has system columns; xmin is a transaction's number.
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
/// # Safety
/// `slot` holds a row read from `table`, which is open.
pub unsafe fn is_live(table: pg_sys::Relation, slot: *mut pg_sys::TupleTableSlot) -> bool {
    // SAFETY: the slot holds a version of a row of the table. SnapshotSelf is a constant of the server's.
    unsafe {
        let snapshot = &raw mut pg_sys::SnapshotSelfData;
        is_foreign(table) || pg_sys::table_tuple_satisfies_snapshot(table, slot, snapshot)
    }
}

/// The newest version of a row.
pub struct NewestVersion {
    /// It holds the row as long as this lives.
    pub slot: *mut pg_sys::TupleTableSlot,
}

impl NewestVersion {
    /// `None` if the row is deleted, or now in another partition.
    ///
    /// # Safety
    /// `slot` holds a row read from `table`, which is not foreign and stays open as long as the result lives.
    pub unsafe fn of(
        table: pg_sys::Relation,
        slot: *mut pg_sys::TupleTableSlot,
    ) -> Option<NewestVersion> {
        // SAFETY: the table is open and keeps rows with tids, of which the slot holds one. SnapshotSelf is a constant of the
        // server's. The new slot is made for this table.
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
            // SAFETY: `of` has made the slot, and nothing else drops it.
            unsafe { pg_sys::ExecDropSingleTupleTableSlot(self.slot) };
        }
    }
}
