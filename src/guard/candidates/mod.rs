//! Where candidates come from: rows that may be similar, found with a dirty snapshot, and waiting for transactions that
//! have not ended.
//!
//! [`index`] has what is searched in a table, and by which index; [`scan`] goes through the candidates of one row, from
//! a sigfile index, from GiST or from the whole table (another source is an arm of its `ScanSource`), and tells rows
//! that have moved meanwhile; [`wait_for`] waits; [`bulk`] searches for many rows of a statement at once, and [`ahead`]
//! remembers those. [`search`] puts them together, and asks the comparator of each candidate.
//!
//! PostgreSQL's exclusion constraints do the same: the row and its index entry are there before the search begins. So
//! if two sessions enter similar rows, the one that searches later sees the other's row, and waits for the end of that
//! transaction.

mod ahead;
pub mod bulk;
pub mod index;
pub mod scan;

use std::collections::BTreeSet;

use index::SearchTarget;
use linkage::guard::similar_rows::SimilarRows;
use pgrx::{direct_function_call, pg_sys, IntoDatum};
use scan::{DirtyScan, PendingTransaction, RowState, SearchStart};

use super::compare::decisions::DecidedRow;
use super::compare::PreparedRow;
use super::prepared::PreparedGuard;
use pg::relation::OpenRelation;
use pg::tid::Tid;
use pg::{check_for_interrupts, ffi};

/// A row of a table, by its tid.
#[derive(Clone, Copy)]
pub struct RowTid {
    pub table: pg_sys::Oid,
    pub tid: Tid,
}

/// What is searched for.
#[derive(Clone, Copy)]
pub struct SearchedRow<'a> {
    /// What candidates are compared with.
    pub row: &'a dyn PreparedRow,
    /// The values that rows must have to be compared, as
    /// [`WithinColumns::values`](super::compare::within::WithinColumns::values) gives them.
    pub within: &'a [pg_sys::Datum],
    /// If rows that are decided to be different from it do not count.
    pub decided: Option<&'a DecidedRow<'a>>,
    /// Whether the keys of all rows that are found are wanted.
    pub with_keys: bool,
    /// Whether the search waits for other transactions that have not ended, unless it finds rows of others. If not, it
    /// counts their rows as rows that are there, and also those that were deleted since the search began.
    pub waits: bool,
}

/// What a search has come to.
pub enum SearchOutcome {
    /// Similar rows, and the keys of all of them if they are wanted.
    Rows(SimilarRows, BTreeSet<Vec<u8>>),
    /// A transaction that has entered a similar row waits for this one.
    Deadlock,
}

/// The rows of all targets that are similar, as the comparator says, without the row at `own`. Rows that are not to be
/// compared count for nothing: it does not wait for them, and their signatures are not looked at.
///
/// Errors: those of [`PreparedRow::similarity`].
pub fn search(
    guard: &PreparedGuard,
    wanted: SearchedRow<'_>,
    own: Option<RowTid>,
) -> SearchOutcome {
    loop {
        let mut pass = SearchPass::default();
        let start = SearchStart::now();
        for target in &guard.targets {
            let own = own.filter(|o| o.table == target.table.oid).map(|o| o.tid);
            pass.search(target, guard.owner, wanted, own, &start);
        }
        drop(start);
        if pass.found.count == 0 {
            if let Some((blocker, row)) = pass.blocker {
                match wait_for(blocker, row) {
                    true => continue,
                    false => return SearchOutcome::Deadlock,
                }
            }
            if pass.is_gone {
                continue;
            }
        }
        return SearchOutcome::Rows(pass.found, pass.keys);
    }
}

/// What one pass over all targets has come upon.
#[derive(Default)]
struct SearchPass {
    found: SimilarRows,
    /// The keys of all of them, as many as `work_mem` holds. A row that another transaction is changing is found twice.
    keys: BTreeSet<Vec<u8>>,
    key_bytes: usize,
    /// A transaction that has not decided about a similar row, and the row.
    blocker: Option<(PendingTransaction, RowTid)>,
    /// Whether a similar row has been deleted, or moved, since the search began.
    is_gone: bool,
}

impl SearchPass {
    /// Searches one target; `owner` owns the guarded table, `own` is the tid of the row that is checked, if it is in
    /// this table.
    fn search(
        &mut self,
        target: &SearchTarget,
        owner: pg_sys::Oid,
        wanted: SearchedRow<'_>,
        own: Option<Tid>,
        start: &SearchStart,
    ) {
        // SAFETY: a setting of this process.
        let most_bytes = unsafe { pg_sys::work_mem } as usize * 1024;
        let table = target.table.oid;
        let mut scan = DirtyScan::begin(target, wanted, start);
        while let Some(state) = scan.advance() {
            if own == Some(scan.tid()) {
                continue;
            }
            let Some(similarity) = wanted.row.similarity(target.table.row(&scan.row)) else {
                continue;
            };
            let key = || match &target.table.key {
                Some(key) => key.text(&scan.row, owner),
                None => scan.tid().to_string().into_bytes(),
            };
            let is_exempt = |row: &DecidedRow| row.is_exempted_by(&key(), &scan.row);
            if wanted.decided.is_some_and(is_exempt) {
                continue;
            }
            if wanted.waits {
                if state == RowState::Gone {
                    self.is_gone = true;
                    continue;
                }
                if let Some(other) = scan.in_progress() {
                    let tid = scan.tid();
                    self.blocker.get_or_insert((other, RowTid { table, tid }));
                    continue;
                }
            }
            if wanted.with_keys && self.key_bytes < most_bytes {
                let key = key();
                self.key_bytes += key.len() + size_of::<Vec<u8>>();
                self.keys.insert(key);
            }
            self.found.add(similarity, table.to_u32(), key);
        }
    }
}

// Waiting for the end of another transaction.

/// How long the younger of two transactions lets the older one begin to wait, in milliseconds.
const GRACE: i64 = 5;

/// Waits until `other` has decided about the row at `row`, and returns false if that would be a deadlock, since `other`
/// waits for this transaction. The table is locked. Nothing of the search may be open meanwhile.
///
/// Two sessions that have both entered similar rows before either of them searches would wait for each other until
/// deadlock_timeout has passed. So the one that finds the other waiting gives up at once. In case both are about to
/// wait, the younger transaction lets the older one go first.
pub fn wait_for(other: PendingTransaction, row: RowTid) -> bool {
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
    let table = OpenRelation::locked_table(row.table);
    let mut tid = row.tid.pointer();
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
