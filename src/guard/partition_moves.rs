//! Rows on their way from one partition to another, which `skip` must not stop.
//!
//! PostgreSQL turns such an UPDATE into a DELETE and an INSERT. A BEFORE INSERT trigger that leaves the row out would
//! lose it. So the row is checked before the UPDATE, and goes on when it arrives in the other partition.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;

use pgrx::pg_sys;

use super::candidates::scan::updater;
use super::candidates::RowTid;
use super::prepared::PreparedGuard;
use super::trigger::TriggerCall;
use crate::register::KeyType;
use pg::catalog;
use pg::ffi;
use pg::relation::OpenRelation;
use pg::row::{header, FetchedRow, Row};
use pg::session_state::map_bytes;

/// A row of a partition that has passed the check of an UPDATE.
struct CheckedUpdate {
    /// The old version of the row.
    from: RowTid,
    /// What the comparator reads of the new one; `None` is NULL.
    compared: Vec<Option<Vec<u8>>>,
}

/// The partitioned table, and the name that the trigger has in all partitions.
type TriggerId = (pg_sys::Oid, CString);

pg::session_state! {
    /// The last row that each trigger has checked.
    static CHECKED: RefCell<HashMap<TriggerId, CheckedUpdate>> = RefCell::default();
    "checked updates" by "table and trigger" until "the row arrives, or another is checked" bytes |checked| {
        let checked = checked.borrow();
        let of_row = |update: &CheckedUpdate| {
            update.compared.iter().flatten().map(Vec::len).sum::<usize>()
        };
        map_bytes(&checked) + checked.values().map(of_row).sum::<usize>()
    };
}

/// Whether the trigger fires for a partition.
fn is_partition(call: &TriggerCall) -> bool {
    // SAFETY: the trigger's table is open as long as the call runs, and has a row in pg_class.
    unsafe { (*(*call.tg_relation).rd_rel).relispartition }
}

/// What the comparator reads of a row.
fn compared(guard: &PreparedGuard, row: &Row) -> Vec<Option<Vec<u8>>> {
    let bytes = |&column: &i16| {
        let of_type = KeyType::new(catalog::column_type(guard.own.oid, column));
        // SAFETY: a value of the column, which is of this type.
        row.get(column)
            .map(|value| unsafe { of_type.packed(value) })
    };
    guard.own.columns.iter().map(bytes).collect()
}

/// Keeps in mind that an UPDATE of the row at `from` will be made, after which it is `row`.
pub fn remember(call: &TriggerCall, guard: &PreparedGuard, from: RowTid, row: &Row) {
    if is_partition(call) {
        let compared = compared(guard, row);
        let trigger = (guard.top, guard.trigger.clone());
        CHECKED.with_borrow_mut(|all| all.insert(trigger, CheckedUpdate { from, compared }));
    }
}

/// Whether the row of an INSERT is one that was remembered, and has just left its partition.
pub fn arrives(call: &TriggerCall, guard: &PreparedGuard, row: &Row) -> bool {
    if !is_partition(call) {
        return false;
    }
    let trigger = (guard.top, guard.trigger.clone());
    if CHECKED.with_borrow(|all| !all.contains_key(&trigger)) {
        return false;
    }
    let compared = compared(guard, row);
    let from = CHECKED.with_borrow(|all| {
        let update = all.get(&trigger)?;
        (update.compared == compared).then_some(update.from)
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
        let row = FetchedRow::none(table.pointer());
        let any = &raw mut pg_sys::SnapshotAnyData;
        ffi::table_tuple_fetch_row_version(table.pointer(), &mut tid, any, row.slot) && {
            let header = header(row.slot);
            // HeapTupleHeaderIndicatesMovedPartitions() looks at the same.
            u32::from((*header).t_ctid.ip_posid) == pg_sys::MovedPartitionsOffsetNumber
                && updater(header).is_some_and(|x| pg_sys::TransactionIdIsCurrentTransactionId(x))
        }
    }
}
