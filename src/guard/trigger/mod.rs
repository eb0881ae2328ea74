//! The trigger function `bloom_guard`: keeps near-duplicates out as they come, or reports them.

mod cache;
pub mod call;
mod generated;
mod moved;
mod too_similar;
mod version;

use pgrx::{pg_sys, PgLogLevel};

use call::TriggerCall;
use version::NewestVersion;

use super::options::GuardAction;
use super::prepared::PreparedGuard;
use super::read_rights;
use super::search::found::SimilarRows;
use super::search::{search, PendingRows, RowTid, SearchOutcome};
use super::tables::key::attribute;
use crate::pg::entry;
use crate::pg::message::{Message, Result};
use crate::types::{Bloom, NewValue};

/// What a trigger function returns to let things go on, or to skip the row of a BEFORE trigger.
const NOTHING: pg_sys::Datum = pg_sys::Datum::null();

/// `bloom_guard() RETURNS trigger`
#[entry]
fn bloom_guard(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of this call.
    NewValue(unsafe { run(fcinfo) }.unwrap_or_else(|message| message.raise()))
}

/// SAFETY: `fcinfo` is that of the running call.
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: as promised by the caller.
    unsafe {
        let call = TriggerCall::of(fcinfo)?;
        let guard = cache::guard(&call)?;
        if guard.options.is_before() {
            before(&call, &guard)
        } else {
            after(&call, &guard).map(|()| NOTHING)
        }
    }
}

/// SAFETY: the call is running.
unsafe fn after(call: &TriggerCall, guard: &PreparedGuard) -> Result<()> {
    let slot = call.new_row();
    // SAFETY: as promised by the caller; the slots are of the table, and hold rows read from it.
    unsafe {
        let Some(new) = attribute(slot, guard.column) else {
            return Ok(());
        };
        let signature = Bloom::from_raw(new);
        if signature.view().count() == 0 {
            return Ok(());
        }
        let is_same = |row| unchanged(attribute(row, guard.column), &signature);
        // The check of a row that this transaction has inserted may have been left to its newest version.
        let checked = |old| is_same(old) && !version::is_of_this_transaction(call.relation(), old);
        if call.old_row().is_some_and(checked) {
            return Ok(());
        }
        if version::is_live(call.relation(), slot) {
            return check(call, guard, &signature, slot);
        }
        // Deferred triggers, and those after others that change the row, fire for versions that are gone.
        if call.fires_for_every_update() {
            return Ok(());
        }
        match NewestVersion::of(call.relation(), slot) {
            Some(newest) if is_same(newest.slot) => check(call, guard, &signature, newest.slot),
            _ => Ok(()),
        }
    }
}

/// SAFETY: `slot` holds the row to be checked, which has this signature.
unsafe fn check(
    call: &TriggerCall,
    guard: &PreparedGuard,
    signature: &Bloom<'_>,
    slot: *mut pg_sys::TupleTableSlot,
) -> Result<()> {
    read_rights::check_owner(guard, || call.trigger_name())?;
    let own = RowTid {
        table: call.table(),
        // SAFETY: as promised by the caller.
        tid: unsafe { (*slot).tts_tid },
    };
    let undecided = match guard.options.action {
        GuardAction::Reject => PendingRows::WaitFor,
        _ => PendingRows::Count,
    };
    match search(guard, signature, Some(own), undecided) {
        SearchOutcome::Rows(found) if found.count == 0 => Ok(()),
        // SAFETY: as promised by the caller.
        SearchOutcome::Rows(found) => unsafe { act(call, guard, &found, slot) },
        SearchOutcome::Deadlock => Err(too_similar::too_similar_to_waiting(guard, call)),
    }
}

/// SAFETY: `slot` holds the new row.
unsafe fn act(
    call: &TriggerCall,
    guard: &PreparedGuard,
    found: &SimilarRows,
    slot: *mut pg_sys::TupleTableSlot,
) -> Result<()> {
    if let (Some(review), Some(key)) = (&guard.review, &guard.key) {
        too_similar::check_told(guard, call, found, review)?;
        // SAFETY: as promised by the caller.
        let key = unsafe { key.text(call.table(), slot, guard.owner) };
        return review.enter(guard.owner, &key, found);
    }
    let message = too_similar::too_similar(guard, call, found);
    if guard.options.action == GuardAction::Warn {
        message.send(PgLogLevel::WARNING);
        return Ok(());
    }
    Err(message)
}

/// SAFETY: the call is running.
unsafe fn before(call: &TriggerCall, guard: &PreparedGuard) -> Result<pg_sys::Datum> {
    let slot = call.new_row();
    // SAFETY: as promised by the caller.
    unsafe {
        let new = if guard.generated {
            generated::value(call.relation(), guard.column, slot, call.function)
        } else {
            attribute(slot, guard.column)
        };
        let Some(new) = new else {
            return Ok(call.go_on());
        };
        let signature = Bloom::from_raw(new);
        let Some(old) = call.old_row() else {
            if moved::arrives(call, guard, &signature) {
                return Ok(call.go_on());
            }
            return skip_or_go_on(call, guard, &signature, None);
        };
        let own = RowTid {
            table: call.table(),
            tid: (*(*call.data).tg_trigtuple).t_self,
        };
        let result = if unchanged(attribute(old, guard.column), &signature) {
            call.go_on()
        } else {
            skip_or_go_on(call, guard, &signature, Some(own))?
        };
        if result != NOTHING {
            moved::passed(call, guard, own, &signature);
        }
        Ok(result)
    }
}

/// SAFETY: the call is running.
unsafe fn skip_or_go_on(
    call: &TriggerCall,
    guard: &PreparedGuard,
    signature: &Bloom<'_>,
    own: Option<RowTid>,
) -> Result<pg_sys::Datum> {
    if signature.view().count() == 0 {
        return Ok(call.go_on());
    }
    read_rights::check_owner(guard, || call.trigger_name())?;
    let message: Box<Message> = match search(guard, signature, own, PendingRows::WaitFor) {
        SearchOutcome::Rows(found) if found.count == 0 => return Ok(call.go_on()),
        SearchOutcome::Rows(found) => too_similar::too_similar(guard, call, &found),
        SearchOutcome::Deadlock => too_similar::too_similar_to_waiting(guard, call),
    };
    message.send(PgLogLevel::NOTICE);
    Ok(NOTHING)
}

/// SAFETY: `old` is a bloom.
unsafe fn unchanged(old: Option<pg_sys::Datum>, new: &Bloom<'_>) -> bool {
    // SAFETY: as promised by the caller.
    old.is_some_and(|old| unsafe { Bloom::from_raw(old) }.view() == new.view())
}
