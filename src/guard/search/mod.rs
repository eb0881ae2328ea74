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

use found::Found;
use scan::{InProgress, Row, Scan};
use since::Since;
use wait::{wait_for, Waited};

use super::prepared::Guard;
use super::tables::target::Target;
use crate::pg::error::OrRaise;
use crate::types::Bloom;

/// Where a row of a table is.
#[derive(Clone, Copy)]
pub struct Place {
    pub table: pg_sys::Oid,
    pub tid: pg_sys::ItemPointerData,
}

/// What the caller does with rows of other transactions that have not ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// Waits, unless other rows decide.
    WaitFor,
    /// Takes them for rows that are there, as those that are gone since the search began.
    Count,
}

pub enum Outcome {
    Rows(Found),
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
    guard: &Guard,
    signature: &Bloom<'_>,
    own: Option<Place>,
    undecided: Undecided,
) -> Outcome {
    loop {
        let mut seen = Seen::default();
        let since = Since::now();
        for target in &guard.targets {
            let own = own.filter(|o| o.table == target.table).map(|o| o.tid);
            search_one(guard, target, signature, own, undecided, &since, &mut seen);
        }
        drop(since);
        match seen {
            Seen { found, .. } if found.count > 0 => return Outcome::Rows(found),
            Seen {
                blocker: Some((blocker, place)),
                ..
            } => match wait_for(blocker, place) {
                Waited::Ended => (),
                Waited::Deadlock => return Outcome::Deadlock,
            },
            Seen { gone: true, .. } => (),
            Seen { found, .. } => return Outcome::Rows(found),
        }
    }
}

/// What one look at all targets has come upon.
#[derive(Default)]
struct Seen {
    found: Found,
    /// Who has not decided about a similar row.
    blocker: Option<(InProgress, Place)>,
    /// A similar row has been deleted, or is now elsewhere.
    gone: bool,
}

fn search_one(
    guard: &Guard,
    target: &Target,
    signature: &Bloom<'_>,
    own: Option<pg_sys::ItemPointerData>,
    undecided: Undecided,
    since: &Since,
    seen: &mut Seen,
) {
    let view = signature.view();
    let mut scan = Scan::begin(target, signature, guard.options.threshold, since);
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
        if undecided == Undecided::WaitFor {
            if row == Row::Gone {
                seen.gone = true;
                continue;
            }
            if let Some(other) = scan.in_progress() {
                let place = Place {
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
