//! Where candidates come from: rows that may be similar, found with a dirty snapshot, and waiting for transactions that
//! have not ended.
//!
//! [`index`] has what is searched in a table, and by which index; [`scan`] goes through the candidates of one row, from
//! a sigfile index, from GiST or from the whole table (another source is an arm of its `ScanSource`), and tells rows
//! that have moved meanwhile; [`pg::waiting`] waits; [`bulk`] searches for many rows of a statement at once, and [`ahead`]
//! remembers those. [`search`] puts them together, and asks the comparator of each candidate.
//!
//! PostgreSQL's exclusion constraints do the same: the row and its index entry are there before the search begins. So
//! if two sessions enter similar rows, the one that searches later sees the other's row, and waits for the end of that
//! transaction. Of a guard that skips the row is not there yet, and one that warns or writes down does not wait: there
//! two sessions that come at the same moment may both pass.

mod ahead;
pub mod bulk;
pub mod index;
pub mod scan;

use std::collections::BTreeSet;

use index::SearchTarget;
use linkage::guard::similar_rows::SimilarRows;
use pgrx::pg_sys;
use scan::{DirtyScan, RowState, SearchStart};

use super::compare::decisions::DecidedRow;
use super::compare::{ComparedRow, PreparedRow};
use super::prepared::PreparedGuard;
use pg::tid::Tid;
use pg::waiting::{wait_for, PendingTransaction};

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
    /// Whether a row does not count, since it was similar before an UPDATE.
    pub was_similar: &'a dyn Fn(ComparedRow<'_>) -> bool,
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
    search_in(&guard.targets, guard.owner, wanted, own)
}

/// The same in any targets, whose tables are locked. `owner` is whose casts make keys a text.
///
/// Errors: those of [`PreparedRow::similarity`].
pub fn search_in(
    targets: &[SearchTarget],
    owner: pg_sys::Oid,
    wanted: SearchedRow<'_>,
    own: Option<RowTid>,
) -> SearchOutcome {
    loop {
        let mut pass = SearchPass::default();
        let start = SearchStart::now();
        for target in targets {
            let own = own.filter(|o| o.table == target.table.oid).map(|o| o.tid);
            pass.search(target, owner, wanted, own, &start);
        }
        drop(start);
        if pass.found.count == 0 {
            if let Some((blocker, row)) = pass.blocker {
                match wait_for(blocker, Some((row.table, row.tid))) {
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
        let mut queries = wanted.row.queries();
        if target.index.is_none() {
            // all rows are looked at, whatever is asked for
            queries.truncate(1);
        }
        if queries.is_empty() {
            return;
        }
        let mut scan = DirtyScan::begin(target, wanted, start);
        for query in queries {
            scan.seek(query);
            self.scan(&mut scan, target, (owner, most_bytes), wanted, own);
        }
    }

    /// Goes through what one query finds.
    fn scan(
        &mut self,
        scan: &mut DirtyScan<'_>,
        target: &SearchTarget,
        (owner, most_bytes): (pg_sys::Oid, usize),
        wanted: SearchedRow<'_>,
        own: Option<Tid>,
    ) {
        let table = target.table.oid;
        while let Some(state) = scan.advance() {
            if own == Some(scan.tid()) {
                continue;
            }
            let Some(similarity) = wanted.row.similarity(target.table.row(&scan.row)) else {
                continue;
            };
            if (wanted.was_similar)(target.table.row(&scan.row)) {
                continue;
            }
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
            let reason = || wanted.row.reason(target.table.row(&scan.row));
            self.found.add(similarity, table.to_u32(), key, reason);
        }
    }
}
