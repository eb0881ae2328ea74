//! Two sessions at once: waiting for the end of a transaction that has entered a row.

use pgrx::{direct_function_call, pg_sys, IntoDatum};

use crate::relation::OpenRelation;
use crate::tid::Tid;
use crate::{check_for_interrupts, ffi};

/// A transaction that must end before it is known whether a row is there.
#[derive(Clone, Copy)]
pub struct PendingTransaction {
    pub transaction: pg_sys::TransactionId,
    /// The token of an INSERT … ON CONFLICT that has not decided yet, else 0.
    pub speculative: u32,
}

/// How long the younger of two transactions lets the older one begin to wait, in milliseconds.
const GRACE: i64 = 5;

/// Waits until `other` has decided about a row, whose table and tid an error names if it is given, and returns false if that
/// would be a deadlock, since `other` waits for this transaction. The table is locked. Nothing of the search may be open
/// meanwhile.
///
/// Two sessions that have both entered similar rows before either of them searches would wait for each other until
/// deadlock_timeout has passed. So the one that finds the other waiting gives up at once. In case both are about to
/// wait, the younger transaction lets the older one go first.
pub fn wait_for(other: PendingTransaction, row: Option<(pg_sys::Oid, Tid)>) -> bool {
    if other.speculative != 0 {
        // SAFETY: it waits for a lock, and an interrupt ends the wait.
        unsafe { ffi::SpeculativeInsertionWait(other.transaction, other.speculative) };
        return true;
    }
    // SAFETY: the transaction was in progress when the search saw its row, so the server still knows its parents.
    let top = unsafe { pg_sys::SubTransGetTopmostTransaction(other.transaction) };
    if waits_for_this(top) {
        return false;
    }
    // SAFETY: it reads shared memory under a lock of its own. No session runs a prepared transaction.
    let has_session = unsafe { pg_sys::BackendXidGetPid(top) } != 0;
    if is_younger_than(top) && has_session {
        pause();
        if waits_for_this(top) {
            return false;
        }
    }
    let Some((table, tid)) = row else {
        let (none, nowhere) = (std::ptr::null_mut(), std::ptr::null_mut());
        let why = pg_sys::XLTW_Oper::XLTW_None;
        // SAFETY: without a reason nothing is said of a row.
        unsafe { ffi::XactLockTableWait(other.transaction, none, nowhere, why) };
        return true;
    };
    let table = OpenRelation::locked_table(table);
    let mut tid = tid.pointer();
    let why = pg_sys::XLTW_Oper::XLTW_RecheckExclusionConstr;
    // SAFETY: the table is open. The tid is only for the context of an error.
    unsafe { ffi::XactLockTableWait(other.transaction, table.pointer(), &mut tid, why) };
    true
}

/// Whether this transaction has a number, and a later one than `other`.
fn is_younger_than(other: pg_sys::TransactionId) -> bool {
    // SAFETY: the first function reads the state of this transaction, the second compares two numbers.
    unsafe {
        let own = pg_sys::GetTopTransactionIdIfAny();
        own != pg_sys::InvalidTransactionId && pg_sys::TransactionIdPrecedes(other, own)
    }
}

/// Whether the session of the transaction waits for this session.
fn waits_for_this(transaction: pg_sys::TransactionId) -> bool {
    // SAFETY: the first function reads shared memory under a lock of its own. pg_blocking_pids takes an integer and
    // returns an array of integers.
    unsafe {
        let pid = pg_sys::BackendXidGetPid(transaction);
        if pid == 0 {
            return false;
        }
        let blockers = direct_function_call(pg_sys::pg_blocking_pids, &[pid.into_datum()]);
        let own = pg_sys::MyProcPid;
        blockers.is_some_and(|pids: Vec<i32>| pids.contains(&own))
    }
}

/// Waits for [`GRACE`], or until the session is woken up.
fn pause() {
    let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    // SAFETY: the latch is the session's own.
    unsafe {
        let wait = pg_sys::PG_WAIT_EXTENSION;
        ffi::WaitLatch(pg_sys::MyLatch, events as i32, GRACE, wait);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts();
}
