//! Rows on their way from one partition to another, which `skip` must not stop.
//!
//! PostgreSQL turns such an UPDATE into a DELETE and an INSERT. A BEFORE INSERT trigger that leaves the row out would lose it.
//! So the row is checked before the UPDATE, and goes on when it arrives in the other partition.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;

use pgrx::pg_sys;

use super::call::TriggerCall;
use crate::guard::prepared::PreparedGuard;
use crate::guard::search::search_start::updater;
use crate::guard::search::RowTid;
use crate::guard::tables::signature::ComparedSignature;
use pg::ffi;
use pg::relation::OpenRelation;
use pg::session_state::map_bytes;
use pg::values::varlena::Varlena;

/// A row of a partition that has passed the check of an UPDATE.
struct CheckedUpdate {
    /// The old version of the row.
    from: RowTid,
    /// The new signature.
    signature: Vec<u8>,
    /// The new tokens, if they are compared, and not NULL.
    tokens: Option<Vec<u8>>,
}

/// The partitioned table, and the name that the trigger has in all partitions.
type TriggerId = (pg_sys::Oid, CString);

pg::session_state! {
    /// The last row that each trigger has checked.
    static CHECKED: RefCell<HashMap<TriggerId, CheckedUpdate>> = RefCell::default();
    "checked updates" by "table and trigger" until "the row arrives, or another is checked" bytes |checked| {
        let checked = checked.borrow();
        let of_row = |update: &CheckedUpdate| {
            update.signature.len() + update.tokens.as_ref().map_or(0, Vec::len)
        };
        map_bytes(&checked) + checked.values().map(of_row).sum::<usize>()
    };
}

/// Whether the trigger fires for a partition.
fn is_partition(call: &TriggerCall) -> bool {
    // SAFETY: the trigger's table is open as long as the call runs, and has a row in pg_class.
    unsafe { (*(*call.relation()).rd_rel).relispartition }
}

/// Keeps in mind that an UPDATE of the row at `from` will be made, and gives it this signature and these tokens.
///
/// # Safety
/// `tokens` is `None`, or a varlena that is readable during the call.
pub unsafe fn remember(
    call: &TriggerCall,
    guard: &PreparedGuard,
    from: RowTid,
    signature: &ComparedSignature<'_>,
    tokens: Option<pg_sys::Datum>,
) {
    if is_partition(call) {
        let update = CheckedUpdate {
            from,
            signature: signature.bytes().to_vec(),
            // SAFETY: the caller says so.
            tokens: tokens.map(|tokens| unsafe { Varlena::of(tokens) }.bytes().to_vec()),
        };
        CHECKED.with_borrow_mut(|all| all.insert((guard.top, call.trigger_name()), update));
    }
}

/// Whether the row of an INSERT is one that was remembered, and has just left its partition.
///
/// # Safety
/// As for [`remember`].
pub unsafe fn arrives(
    call: &TriggerCall,
    guard: &PreparedGuard,
    signature: &ComparedSignature<'_>,
    tokens: Option<pg_sys::Datum>,
) -> bool {
    if !is_partition(call) {
        return false;
    }
    // SAFETY: the caller says so.
    let tokens = tokens.map(|tokens| unsafe { Varlena::of(tokens) });
    let tokens = tokens.as_ref().map(|tokens| tokens.bytes());
    let trigger = (guard.top, call.trigger_name());
    let from = CHECKED.with_borrow(|all| {
        let update = all.get(&trigger)?;
        let is_same = update.signature == signature.bytes() && update.tokens.as_deref() == tokens;
        is_same.then_some(update.from)
    });
    let arrives = from.is_some_and(has_left);
    if arrives {
        CHECKED.with_borrow_mut(|all| all.remove(&trigger));
    }
    arrives
}

/// Whether this transaction has moved a row to another partition.
fn has_left(from: RowTid) -> bool {
    let Some(table) = OpenRelation::find_table(from.table, pg_sys::AccessShareLock) else {
        return false;
    };
    let mut tid = from.tid.pointer();
    // SAFETY: the table is a partition, whose rows have tids, and the slot is made for it. A slot of the kind that
    // table_slot_create makes for heap holds the tuple with its header, pinned until the slot is dropped.
    unsafe {
        let slot = pg_sys::table_slot_create(table.pointer(), std::ptr::null_mut());
        let any = &raw mut pg_sys::SnapshotAnyData;
        let left = ffi::table_tuple_fetch_row_version(table.pointer(), &mut tid, any, slot) && {
            let tuple = pg_sys::ExecFetchSlotHeapTuple(slot, false, std::ptr::null_mut());
            let header = (*tuple).t_data;
            // HeapTupleHeaderIndicatesMovedPartitions() looks at the same.
            u32::from((*header).t_ctid.ip_posid) == pg_sys::MovedPartitionsOffsetNumber
                && updater(header).is_some_and(|x| pg_sys::TransactionIdIsCurrentTransactionId(x))
        };
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        left
    }
}
