//! Waiting for another transaction's end.

use pgrx::{direct_function_call, pg_sys, IntoDatum};

use super::scan::PendingTransaction;
use super::RowTid;
use crate::pg::{check_for_interrupts, ffi};

pub enum WaitOutcome {
    Ended,
    /// It waits for this transaction.
    Deadlock,
}

/// How long the younger of two gives the older to begin waiting, in milliseconds.
const GRACE: i64 = 5;

/// Nothing of the search may be open meanwhile.
///
/// Two sessions that have entered similar rows before either searches would wait for each other until
/// deadlock_timeout has passed. So whoever finds that the other waits already gives up at once. In case both are about
/// to, the younger one lets the older go first.
pub fn wait_for(other: PendingTransaction, place: RowTid) -> WaitOutcome {
    if other.speculative != 0 {
        // SAFETY: waits for a lock; interrupts end it.
        unsafe { ffi::SpeculativeInsertionWait(other.transaction, other.speculative) };
        return WaitOutcome::Ended;
    }
    // SAFETY: the transaction was in progress when a snapshot of this one saw its row, so its parents are known.
    let top = unsafe { pg_sys::SubTransGetTopmostTransaction(other.transaction) };
    if waits_for_this(top) {
        return WaitOutcome::Deadlock;
    }
    // SAFETY: looks at this transaction's state.
    let own = unsafe { pg_sys::GetTopTransactionIdIfAny() };
    // SAFETY: compares two numbers.
    let younger =
        own != pg_sys::InvalidTransactionId && unsafe { pg_sys::TransactionIdPrecedes(top, own) };
    if younger && has_backend(top) {
        pause();
        if waits_for_this(top) {
            return WaitOutcome::Deadlock;
        }
    }
    let mut tid = place.tid;
    // SAFETY: the table is locked; the place is for the error's context only.
    unsafe {
        let table = ffi::table_open(place.table, pg_sys::NoLock as i32);
        ffi::XactLockTableWait(
            other.transaction,
            table,
            &mut tid,
            pg_sys::XLTW_Oper::XLTW_RecheckExclusionConstr,
        );
        pg_sys::table_close(table, pg_sys::NoLock as i32);
    }
    WaitOutcome::Ended
}

/// Not of a prepared transaction.
fn has_backend(transaction: pg_sys::TransactionId) -> bool {
    // SAFETY: looks at shared state.
    unsafe { pg_sys::BackendXidGetPid(transaction) != 0 }
}

fn waits_for_this(transaction: pg_sys::TransactionId) -> bool {
    // SAFETY: looks at shared state; the function takes an integer and returns an array of them.
    unsafe {
        let pid = pg_sys::BackendXidGetPid(transaction);
        if pid == 0 {
            return false;
        }
        let blockers: Option<Vec<i32>> =
            direct_function_call(pg_sys::pg_blocking_pids, &[pid.into_datum()]);
        let own = pg_sys::MyProcPid;
        blockers.is_some_and(|pids| pids.contains(&own))
    }
}

fn pause() {
    let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    // SAFETY: the process's own latch.
    unsafe {
        ffi::WaitLatch(
            pg_sys::MyLatch,
            events as i32,
            GRACE,
            pg_sys::PG_WAIT_EXTENSION,
        );
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts();
}
