//! Looking ahead: the rows that a statement has still to check are searched for together, and those without similar
//! rows are remembered.
//!
//! When an AFTER trigger fires, all rows of its statement are in the table, and their index entries too. So the search
//! for a row may as well be made some thousand rows earlier. It is no worse for other sessions: who enters a similar
//! row after the search finds this row's index entry, as it was there before. docs/decisions/guard.md has the whole
//! argument.
//!
//! From bottom to top: [`memory`]: what is remembered, and when it is worth while to look ahead; [`rows`]: reading the
//! rows ahead; [`entry_check`]: whether a row that the index gives may matter; [`batch`]: searching for the rows.

mod batch;
mod entry_check;
mod memory;
mod rows;

use pgrx::pg_sys;

use super::RowTid;
use crate::guard::prepared::PreparedGuard;
use batch::BatchSearch;
use memory::{AheadOutcome, Moment};
use pg::relation;

/// Whether it is known that nothing similar to this row was there when its index entry was. If not, the row is to be
/// searched for by itself. `checks_updates`: the trigger fires for every UPDATE.
///
/// # Safety
/// `table` is open, is that of `own`, and the trigger with this OID fires for it. The row is there, with its index
/// entry.
pub unsafe fn is_clear(
    guard: &PreparedGuard,
    (trigger, checks_updates): (pg_sys::Oid, bool),
    table: pg_sys::Relation,
    own: RowTid,
) -> bool {
    if !guard.targets.iter().all(|t| t.index_for_many.is_some()) {
        return false;
    }
    let moment = Moment::now(guard, checks_updates);
    let size = match memory::ask(trigger, moment, own.tid) {
        AheadOutcome::Clear => return true,
        AheadOutcome::Unclear => return false,
        AheadOutcome::LookAhead { size } => size,
    };
    // SAFETY: the table is open.
    if !unsafe { relation::is_heap(table) } {
        return false;
    }
    // SAFETY: the table is open, and that of the row.
    let found = unsafe { BatchSearch::new(guard, size).and_then(|search| search.run(table, own)) };
    memory::keep(trigger, moment, found);
    matches!(memory::ask(trigger, moment, own.tid), AheadOutcome::Clear)
}
