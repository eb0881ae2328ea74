//! Versions of a row: which transaction has made one, whether it is still the newest, and which one is.

use pgrx::pg_sys;

use crate::guard::row::{FetchedRow, Row};
use pg::ffi;

/// Whether the table of a row is foreign: its rows come without system columns, and have no versions.
fn is_foreign(row: &Row) -> bool {
    // SAFETY: an open table is in the relation cache. A foreign table has no access method.
    unsafe { (*row.table).rd_tableam.is_null() }
}

/// Whether this transaction has made the version.
pub fn is_of_this_transaction(row: &Row) -> bool {
    let mut null = false;
    // SAFETY: the slot holds a row of a table that is not foreign, so it has system columns; xmin is a transaction's
    // number.
    unsafe {
        if is_foreign(row) {
            return false;
        }
        let number = pg_sys::MinTransactionIdAttributeNumber;
        let inserter = pg_sys::slot_getsysattr(row.slot, number, &mut null);
        let inserter = pg_sys::TransactionId::from(inserter.value() as u32);
        !null && pg_sys::TransactionIdIsCurrentTransactionId(inserter)
    }
}

/// Whether this version of the row is still the newest.
pub fn is_live(row: &Row) -> bool {
    // SAFETY: the slot holds a version of a row of the table. SnapshotSelf is a constant of the server's.
    unsafe {
        let snapshot = &raw mut pg_sys::SnapshotSelfData;
        is_foreign(row) || pg_sys::table_tuple_satisfies_snapshot(row.table, row.slot, snapshot)
    }
}

/// The newest version of a row; `None` if the row is deleted, or now in another partition. Its table is not foreign,
/// and stays open as long as the result lives.
pub fn newest(row: &Row) -> Option<FetchedRow> {
    // SAFETY: the table is open and keeps rows with tids, of which the slot holds one. SnapshotSelf is a constant of
    // the server's.
    unsafe {
        let snapshot = &raw mut pg_sys::SnapshotSelfData;
        let mut tid = (*row.slot).tts_tid;
        let scan = ffi::table_beginscan_tid(row.table, snapshot);
        ffi::table_tuple_get_latest_tid(scan, &mut tid);
        ffi::table_endscan(scan);
        let newest = FetchedRow::none(row.table);
        ffi::table_tuple_fetch_row_version(row.table, &mut tid, snapshot, newest.slot)
            .then_some(newest)
    }
}
