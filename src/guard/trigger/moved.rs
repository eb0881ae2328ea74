//! Rows on their way from one partition to another, which `skip` must not stop.
//!
//! PostgreSQL makes of such an UPDATE a DELETE and then an INSERT. A BEFORE INSERT trigger that leaves the row out would
//! lose it. So the row is checked before the UPDATE, and let through when it arrives.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;

use pgrx::pg_sys;

use super::call::TriggerCall;
use crate::guard::prepared::PreparedGuard;
use crate::guard::search::since::updater;
use crate::guard::search::RowTid;
use crate::pg::ffi;
use crate::types::Bloom;

/// A row of a partition that has passed the check of an UPDATE.
struct CheckedUpdate {
    /// Of the old version.
    from: RowTid,
    signature: Vec<u8>,
}

/// The partitioned table, and the name that a trigger has in all partitions.
type TriggerId = (pg_sys::Oid, CString);

thread_local! {
    /// The last row of each trigger.
    static PASSED: RefCell<HashMap<TriggerId, CheckedUpdate>> = RefCell::default();
}

/// SAFETY: the call is running.
unsafe fn is_partition(call: &TriggerCall) -> bool {
    // SAFETY: as promised by the caller.
    unsafe { (*(*call.relation()).rd_rel).relispartition }
}

/// An UPDATE of the row at `from` will be made, and gives it this signature.
///
/// SAFETY: the call is running.
pub unsafe fn passed(
    call: &TriggerCall,
    guard: &PreparedGuard,
    from: RowTid,
    signature: &Bloom<'_>,
) {
    // SAFETY: as promised by the caller.
    if unsafe { is_partition(call) } {
        let signature = signature.view().bytes().to_vec();
        let passed = CheckedUpdate { from, signature };
        PASSED.with_borrow_mut(|all| all.insert((guard.top, call.trigger_name()), passed));
    }
}

/// Whether the row of an INSERT is the one that has passed, and has just left its partition.
///
/// SAFETY: the call is running.
pub unsafe fn arrives(call: &TriggerCall, guard: &PreparedGuard, signature: &Bloom<'_>) -> bool {
    // SAFETY: as promised by the caller.
    if !unsafe { is_partition(call) } {
        return false;
    }
    let trigger = (guard.top, call.trigger_name());
    let from = PASSED.with_borrow(|all| {
        let passed = all.get(&trigger)?;
        (passed.signature == signature.view().bytes()).then_some(passed.from)
    });
    let arrives = from.is_some_and(has_left);
    if arrives {
        PASSED.with_borrow_mut(|all| all.remove(&trigger));
    }
    arrives
}

/// Whether this transaction has moved the row at this place to another partition.
fn has_left(place: RowTid) -> bool {
    let mut tid = place.tid;
    let lock = pg_sys::AccessShareLock as i32;
    // SAFETY: the table may be gone meanwhile; if it is there, it has versions of rows, and the slot is one of it.
    unsafe {
        let table = ffi::try_table_open(place.table, lock);
        if table.is_null() {
            return false;
        }
        let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
        let any = &raw mut pg_sys::SnapshotAnyData;
        let left = ffi::table_tuple_fetch_row_version(table, &mut tid, any, slot) && {
            let tuple = pg_sys::ExecFetchSlotHeapTuple(slot, false, std::ptr::null_mut());
            let header = (*tuple).t_data;
            // what HeapTupleHeaderIndicatesMovedPartitions looks at
            u32::from((*header).t_ctid.ip_posid) == pg_sys::MovedPartitionsOffsetNumber
                && updater(header).is_some_and(|x| pg_sys::TransactionIdIsCurrentTransactionId(x))
        };
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        pg_sys::table_close(table, lock);
        left
    }
}
