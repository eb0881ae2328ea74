//! Decisions about a new row: those that there are, and those that its user makes by setting `bloom_ident.decide`.

use std::collections::HashSet;

use pgrx::pg_sys;

use super::call::TriggerCall;
use crate::guard::decisions::{ColumnValue, DecidedRow};
use crate::guard::prepared::PreparedGuard;
use crate::guard::search::{FoundKeys, SearchOutcome};
use types::settings::{self, Decide};

/// The row that is checked, if the guard keeps to decisions.
///
/// # Safety
/// `slot` holds a row of the trigger's table, and `value` gives its values.
pub unsafe fn decided_row<'a>(
    call: &TriggerCall,
    guard: &'a PreparedGuard,
    slot: *mut pg_sys::TupleTableSlot,
    value: &'a ColumnValue<'a>,
) -> Option<DecidedRow<'a>> {
    let (decisions, key) = guard.decisions.as_ref().zip(guard.key.as_ref())?;
    Some(DecidedRow {
        decisions,
        table: call.table(),
        // SAFETY: the slot holds a row of the trigger's table, as the caller promises.
        key: unsafe { key.text(call.table(), slot, guard.owner) },
        value,
    })
}

/// Whether decisions about a row as it was are about the row as it is: it has the same key, or there are no decisions. Otherwise a row that was let in by a decision could give
/// its key to the next one.
///
/// # Safety
/// Both slots hold rows of the trigger's table.
pub unsafe fn is_of_same_key(
    call: &TriggerCall,
    guard: &PreparedGuard,
    old: *mut pg_sys::TupleTableSlot,
    new: *mut pg_sys::TupleTableSlot,
) -> bool {
    let Some((_, key)) = guard.decisions.as_ref().zip(guard.key.as_ref()) else {
        return true;
    };
    // SAFETY: the slots hold rows of the trigger's table, as the caller promises.
    let [old, new] = [old, new].map(|slot| unsafe { key.text(call.table(), slot, guard.owner) });
    old == new
}

/// Whether a column is a stored generated one, which is not computed yet when BEFORE triggers fire.
pub fn is_stored_generated(table: pg_sys::Oid, column: i16) -> bool {
    // SAFETY: a look-up in the catalogs by OID and number.
    (unsafe { pg_sys::get_attgenerated(table, column) }) as u8 == b's'
}

/// What `search` finds, which writes the keys of all rows where it is told to. If the session says that the row is different from what is found, and its
/// user may enter that, it is entered, and is not found any more. Where there are more rows than a search keeps, they are all looked for once more, since
/// each search looks up the decisions about all of them.
///
/// Errors: as entering a decision.
pub fn decide(
    row: Option<&DecidedRow>,
    search: impl Fn(Option<&FoundKeys>) -> SearchOutcome,
) -> SearchOutcome {
    let mut entered: HashSet<Vec<u8>> = HashSet::new();
    loop {
        let found = match search(None) {
            SearchOutcome::Rows(found) if found.count > 0 => found,
            other => return other,
        };
        let keys = || found.best.iter().map(|row| &row.key);
        // Code of users may have kept a decision out, or made another one.
        let is_entered = keys().any(|key| entered.contains(key));
        let decides = |row: &&DecidedRow| {
            settings::decide() == Decide::Different && !is_entered && row.decisions.may_be_written()
        };
        let Some(row) = row.filter(decides) else {
            return SearchOutcome::Rows(found);
        };
        let keys: Vec<Vec<u8>> = match found.count > found.best.len() as u64 {
            false => keys().cloned().collect(),
            true => {
                let all = FoundKeys::default();
                if let SearchOutcome::Deadlock = search(Some(&all)) {
                    return SearchOutcome::Deadlock;
                }
                all.distinct()
            }
        };
        row.decisions
            .enter(&row.key, keys.iter().map(Vec::as_slice));
        entered.extend(keys);
    }
}
