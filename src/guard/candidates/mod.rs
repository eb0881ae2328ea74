//! Where candidates come from: rows that may be similar, found with a dirty snapshot, and waiting for transactions that
//! have not ended.
//!
//! [`target`] has what is searched in a table, with its best [`index`]; [`scan`] goes through the candidates of one
//! row, from a sigfile index, from GiST or from the whole table (another source is an arm of its `ScanSource`);
//! [`search_start`] tells rows that have moved meanwhile; [`wait`] waits; [`bulk`] searches for many rows of a
//! statement at once. [`search`] puts them together, and asks the judge of each candidate.
//!
//! PostgreSQL's exclusion constraints do the same: the row and its index entry are there before the search begins. So
//! if two sessions enter similar rows, the one that searches later sees the other's row, and waits for the end of that
//! transaction.

pub mod bulk;
pub mod index;
mod scan;
pub mod search_start;
pub mod target;
mod wait;

use std::cell::{Cell, RefCell};

use linkage::guard::similar_rows::SimilarRows;
use pgrx::pg_sys;

use scan::{DirtyScan, PendingTransaction, RowState};
use search_start::SearchStart;
use wait::{wait_for, WaitOutcome};

use super::compare::by_signature::ComparedSignature;
use super::compare::decisions::DecidedRow;
use super::compare::{JudgedRow, Subject};
use super::prepared::PreparedGuard;
use pg::error::OrRaise;
use pg::tid::Tid;
use target::SearchTarget;

/// A row of a table, by its tid.
#[derive(Clone, Copy)]
pub struct RowTid {
    pub table: pg_sys::Oid,
    pub tid: Tid,
}

/// What is searched for.
#[derive(Clone, Copy)]
pub struct SearchedRow<'a> {
    pub signature: &'a ComparedSignature<'a>,
    /// What candidates are compared with.
    pub subject: &'a dyn Subject,
    /// The values that rows must have to be compared, as
    /// [`WithinColumns::values`](super::compare::within::WithinColumns::values) gives them.
    pub within: &'a [pg_sys::Datum],
    /// If rows that are judged different from it do not count.
    pub decided: Option<&'a DecidedRow<'a>>,
    /// If the keys of all rows that are found are wanted, where to.
    pub keys: Option<&'a FoundKeys>,
}

/// Keys of rows, as many as `work_mem` holds.
#[derive(Default)]
pub struct FoundKeys {
    keys: RefCell<Vec<Vec<u8>>>,
    bytes: Cell<usize>,
}

impl FoundKeys {
    fn add(&self, key: impl FnOnce() -> Vec<u8>) {
        // SAFETY: a setting of this process.
        let most = unsafe { pg_sys::work_mem } as usize * 1024;
        if self.bytes.get() < most {
            let key = key();
            let bytes = self.bytes.get() + key.len() + size_of::<Vec<u8>>();
            self.bytes.set(bytes);
            self.keys.borrow_mut().push(key);
        }
    }

    fn clear(&self) {
        self.keys.borrow_mut().clear();
        self.bytes.set(0);
    }

    /// Each key once: a row that another transaction is changing is found twice.
    pub fn distinct(self) -> Vec<Vec<u8>> {
        let mut keys = self.keys.into_inner();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// What a search does with rows of other transactions that have not ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PendingRows {
    /// It waits for the transactions, unless it finds other rows.
    WaitFor,
    /// It counts them as rows that are there. It also counts rows that were deleted since the search began.
    Count,
}

/// What a search has come to.
pub enum SearchOutcome {
    Rows(SimilarRows),
    /// A transaction that has entered a similar row waits for this one.
    Deadlock,
}

/// The rows of all targets that are similar, as the judge says, without the row at `own`. Rows that are not to be
/// compared count for nothing: it does not wait for them, and their signatures are not looked at.
///
/// Errors: a row has a signature of another shape; those of [`Subject::similarity`].
pub fn search(
    guard: &PreparedGuard,
    wanted: SearchedRow<'_>,
    own: Option<RowTid>,
    pending: PendingRows,
) -> SearchOutcome {
    loop {
        let mut pass = SearchPass::default();
        wanted.keys.inspect(|keys| keys.clear());
        let start = SearchStart::now();
        for target in &guard.targets {
            let own = own.filter(|o| o.table == target.table).map(|o| o.tid);
            pass.search(guard, target, wanted, own, pending, &start);
        }
        drop(start);
        match pass {
            SearchPass { found, .. } if found.count > 0 => return SearchOutcome::Rows(found),
            SearchPass {
                blocker: Some((blocker, row)),
                ..
            } => match wait_for(blocker, row) {
                WaitOutcome::Ended => (),
                WaitOutcome::Deadlock => return SearchOutcome::Deadlock,
            },
            SearchPass { is_gone: true, .. } => (),
            SearchPass { found, .. } => return SearchOutcome::Rows(found),
        }
    }
}

/// What one pass over all targets has come upon.
#[derive(Default)]
struct SearchPass {
    found: SimilarRows,
    /// A transaction that has not decided about a similar row, and the row.
    blocker: Option<(PendingTransaction, RowTid)>,
    /// Whether a similar row has been deleted, or moved, since the search began.
    is_gone: bool,
}

impl SearchPass {
    /// Searches one target; `own` is the tid of the row that is checked, if it is in this table.
    fn search(
        &mut self,
        guard: &PreparedGuard,
        target: &SearchTarget,
        wanted: SearchedRow<'_>,
        own: Option<Tid>,
        pending: PendingRows,
        start: &SearchStart,
    ) {
        let asked = guard.own.judge.searched_from(wanted.signature.measure());
        let mut scan = DirtyScan::begin(target, wanted, asked, start);
        while let Some(state) = scan.advance() {
            let signature = scan.signature();
            let similarity = wanted.signature.similarity(&signature).or_raise();
            // An empty signature is similar to nothing, even at threshold 0.
            if similarity < asked || signature.is_empty() || guard.own.judge.ignores(&signature) {
                continue;
            }
            drop(signature);
            if own == Some(scan.tid()) {
                continue;
            }
            let candidate = JudgedRow {
                row: &scan.row,
                columns: &target.columns,
            };
            let Some(similarity) = wanted.subject.similarity(similarity, candidate) else {
                continue;
            };
            let key = || match &target.key {
                Some(key) => key.text(&scan.row, guard.owner),
                None => scan.tid().to_string().into_bytes(),
            };
            let is_let_pass = |row: &DecidedRow| row.is_let_pass_by(&key(), &scan.row);
            if wanted.decided.is_some_and(is_let_pass) {
                continue;
            }
            if pending == PendingRows::WaitFor {
                if state == RowState::Gone {
                    self.is_gone = true;
                    continue;
                }
                if let Some(other) = scan.in_progress() {
                    let row = RowTid {
                        table: target.table,
                        tid: scan.tid(),
                    };
                    self.blocker = self.blocker.or(Some((other, row)));
                    continue;
                }
            }
            wanted.keys.inspect(|keys| keys.add(key));
            self.found.add(similarity, target.table.to_u32(), key);
        }
    }
}
