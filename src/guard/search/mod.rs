//! Looking for similar rows with a dirty snapshot, and waiting for those who have not decided.
//!
//! As PostgreSQL's exclusion constraints do it: the row and its index entry are there before the search begins, so
//! of two sessions that enter similar rows the one that searches later sees the other's row, and waits for its end.

pub mod found;
mod scan;
pub mod since;
mod wait;

use bloom_ident_core::similarity::Counts;
use pgrx::pg_sys;

use found::SimilarRows;
use scan::{DirtyScan, PendingTransaction, RowState};
use since::SearchStart;
use wait::{wait_for, WaitOutcome};

use super::prepared::PreparedGuard;
use super::tables::target::SearchTarget;
use crate::pg::error::OrRaise;
use crate::types::Bloom;

/// Where a row of a table is.
#[derive(Clone, Copy)]
pub struct RowTid {
    pub table: pg_sys::Oid,
    pub tid: pg_sys::ItemPointerData,
}

/// What the caller does with rows of other transactions that have not ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PendingRows {
    /// Waits, unless other rows decide.
    WaitFor,
    /// Takes them for rows that are there, as those that are gone since the search began.
    Count,
}

pub enum SearchOutcome {
    Rows(SimilarRows),
    /// A transaction that has a similar row waits for this one.
    Deadlock,
}

fn same_place(a: pg_sys::ItemPointerData, b: pg_sys::ItemPointerData) -> bool {
    let parts = |p: pg_sys::ItemPointerData| (p.ip_blkid.bi_hi, p.ip_blkid.bi_lo, p.ip_posid);
    parts(a) == parts(b)
}

/// Rows of all targets that reach the threshold, but for the row at `own`.
///
/// Errors: a row of another shape.
pub fn search(
    guard: &PreparedGuard,
    signature: &Bloom<'_>,
    own: Option<RowTid>,
    undecided: PendingRows,
) -> SearchOutcome {
    loop {
        let mut seen = SearchPass::default();
        let since = SearchStart::now();
        for target in &guard.targets {
            let own = own.filter(|o| o.table == target.table).map(|o| o.tid);
            search_one(guard, target, signature, own, undecided, &since, &mut seen);
        }
        drop(since);
        match seen {
            SearchPass { found, .. } if found.count > 0 => return SearchOutcome::Rows(found),
            SearchPass {
                blocker: Some((blocker, place)),
                ..
            } => match wait_for(blocker, place) {
                WaitOutcome::Ended => (),
                WaitOutcome::Deadlock => return SearchOutcome::Deadlock,
            },
            SearchPass { gone: true, .. } => (),
            SearchPass { found, .. } => return SearchOutcome::Rows(found),
        }
    }
}

/// What one look at all targets has come upon.
#[derive(Default)]
struct SearchPass {
    found: SimilarRows,
    /// Who has not decided about a similar row.
    blocker: Option<(PendingTransaction, RowTid)>,
    /// A similar row has been deleted, or is now elsewhere.
    gone: bool,
}

fn search_one(
    guard: &PreparedGuard,
    target: &SearchTarget,
    signature: &Bloom<'_>,
    own: Option<pg_sys::ItemPointerData>,
    undecided: PendingRows,
    since: &SearchStart,
    seen: &mut SearchPass,
) {
    let view = signature.view();
    let mut scan = DirtyScan::begin(target, signature, guard.options.threshold, since);
    let slot = scan.slot;
    while let Some(row) = scan.advance() {
        let similarity = Counts::of(&view, &scan.signature().view())
            .or_raise()
            .jaccard();
        // empty signatures are similar to nothing, even at threshold 0
        if similarity < guard.options.threshold || scan.signature().view().count() == 0 {
            continue;
        }
        if own.is_some_and(|own| same_place(own, scan.place())) {
            continue;
        }
        if undecided == PendingRows::WaitFor {
            if row == RowState::Gone {
                seen.gone = true;
                continue;
            }
            if let Some(other) = scan.in_progress() {
                let place = RowTid {
                    table: target.table,
                    tid: scan.place(),
                };
                seen.blocker = seen.blocker.or(Some((other, place)));
                continue;
            }
        }
        // SAFETY: the slot holds the row.
        seen.found.add(similarity, target.table, || unsafe {
            match &target.key {
                Some(key) => key.text(target.table, slot, guard.owner),
                None => shown_place(scan.place()),
            }
        });
    }
}

/// As `ctid` is shown.
fn shown_place(tid: pg_sys::ItemPointerData) -> Vec<u8> {
    let block = u32::from(tid.ip_blkid.bi_hi) << 16 | u32::from(tid.ip_blkid.bi_lo);
    format!("({block},{})", tid.ip_posid).into_bytes()
}
