//! Actions `reject`, `warn` and `flag`: the row is in the table already, and its index entry too.

use linkage::guard::options::GuardAction;
use linkage::guard::similar_rows::SimilarRows;
use pgrx::{pg_sys, PgLogLevel};

use super::call::TriggerCall;
use super::deciding::{decide, decided_row, is_of_same_key};
use super::version::{self, NewestVersion};
use super::{are_same_tokens, is_unchanged, kept, told, too_similar};
use crate::guard::ahead;
use crate::guard::prepared::PreparedGuard;
use crate::guard::read_rights;
use crate::guard::search::{search, FoundKeys, PendingRows, RowTid, SearchOutcome, SearchedRow};
use crate::guard::tables::column::attribute;
use crate::guard::tables::signature::ComparedSignature;
use crate::guard::tables::tokens::WantedTokens;
use pg::message::OrMessage;

/// Errors: the row is too similar to another one (23P85), or has become another (23P86), and the action is `reject`; those of
/// writing to the review table.
pub fn run(call: &TriggerCall, guard: &PreparedGuard) -> OrMessage<()> {
    let slot = call.new_row();
    // SAFETY: the call does not outlive the trigger's call, so its slots hold rows read from the trigger's table, which is open.
    // The guard's column is a signature column of that table, and that of tokens one of tokens.
    unsafe {
        let new = attribute(slot, guard.column.number);
        let tokens_of = |row| attribute(row, guard.tokens?.number);
        let tokens = tokens_of(slot);
        kept::check(call, guard, new, tokens)?;
        let Some(new) = new else {
            return Ok(());
        };
        let signature = ComparedSignature::of(guard.column.of_type, new);
        if signature.is_empty() {
            return Ok(());
        }
        if guard.ignores(&signature) {
            if !call
                .old_row()
                .is_some_and(|old| is_unchanged(attribute(old, guard.column.number), &signature))
            {
                told::tell_full(call, guard);
            }
            return Ok(());
        }
        let is_same = |row| {
            is_unchanged(attribute(row, guard.column.number), &signature)
                && are_same_tokens(tokens_of(row), tokens)
        };
        // The check of a row that this transaction has inserted may have been left to its newest version.
        let is_checked = |old| {
            is_same(old)
                && is_within_same(guard, old, slot)
                && is_of_same_key(call, guard, old, slot)
                && !version::is_of_this_transaction(call.relation(), old)
        };
        if call.old_row().is_some_and(is_checked) {
            return Ok(());
        }
        if version::is_live(call.relation(), slot) {
            return check(call, guard, &signature, slot);
        }
        // A deferred trigger, and one that fires after another trigger has changed the row, fires for a version that is no
        // longer the newest. If the trigger fires for every UPDATE, it fires for the newest version too.
        if call.fires_for_every_update() {
            return Ok(());
        }
        match NewestVersion::of(call.relation(), slot) {
            Some(newest) if is_same(newest.slot) => check(call, guard, &signature, newest.slot),
            _ => Ok(()),
        }
    }
}

/// Whether a row is to be compared with the same rows as it was, or with none.
///
/// # Safety
/// Both slots hold rows of the trigger's table.
unsafe fn is_within_same(
    guard: &PreparedGuard,
    old: *mut pg_sys::TupleTableSlot,
    new: *mut pg_sys::TupleTableSlot,
) -> bool {
    // SAFETY: the slots hold rows that have the columns.
    unsafe {
        let values = guard.within.values(new);
        values.is_none_or(|values| guard.within.is_equal(old, &values))
    }
}

/// # Safety
/// `slot` holds the row to be checked, a row of the trigger's table with this signature.
unsafe fn check(
    call: &TriggerCall,
    guard: &PreparedGuard,
    signature: &ComparedSignature<'_>,
    slot: *mut pg_sys::TupleTableSlot,
) -> OrMessage<()> {
    // SAFETY: the slot holds a row of the trigger's table, as the caller promises.
    let Some(within) = (unsafe { guard.within.values(slot) }) else {
        return Ok(());
    };
    read_rights::check_owner(guard, || call.trigger_name())?;
    let own = RowTid {
        table: call.table(),
        // SAFETY: the slot holds a row, as the caller promises.
        tid: unsafe { (*slot).tts_tid }.into(),
    };
    let trigger = (call.trigger().tgoid, call.fires_for_every_update());
    // SAFETY: the trigger's table is open, and the row is in it, with its index entries.
    if unsafe { ahead::is_clear(guard, trigger, call.relation(), own) } {
        return Ok(());
    }
    let tokens = match guard.tokens {
        None => None,
        // SAFETY: the slot holds a row with this column, which is one of tokens.
        Some(column) => match unsafe { WantedTokens::of(attribute(slot, column.number)) } {
            None => return Ok(()),
            some => some,
        },
    };
    let pending = match guard.options.action {
        GuardAction::Reject => PendingRows::WaitFor,
        _ => PendingRows::Count,
    };
    // SAFETY: the slot holds a row of the trigger's table, which has the column.
    let value = |column: i16| unsafe { attribute(slot, column) };
    // SAFETY: the slot holds a row of the trigger's table.
    let decided = unsafe { decided_row(call, guard, slot, &value) };
    let wanted = SearchedRow {
        signature,
        tokens: tokens.as_ref(),
        within: &within,
        decided: decided.as_ref(),
        keys: None,
    };
    let search = |keys: Option<&FoundKeys>| {
        search(guard, SearchedRow { keys, ..wanted }, Some(own), pending)
    };
    match decide(wanted.decided, search) {
        SearchOutcome::Rows(found) if found.count == 0 => Ok(()),
        // SAFETY: the slot holds a row of the trigger's table, as the caller promises.
        SearchOutcome::Rows(found) => unsafe { act(call, guard, &found, slot) },
        SearchOutcome::Deadlock => Err(too_similar::to_a_waiting_row(guard, &call.trigger_name())),
    }
}

/// # Safety
/// `slot` holds the new row, a row of the trigger's table.
unsafe fn act(
    call: &TriggerCall,
    guard: &PreparedGuard,
    found: &SimilarRows,
    slot: *mut pg_sys::TupleTableSlot,
) -> OrMessage<()> {
    if let (Some(review), Some(key)) = (&guard.review, &guard.key) {
        read_rights::check_review_owner(guard, found, review.table(), || call.trigger_name())?;
        // SAFETY: the slot holds a row of the trigger's table, as the caller promises.
        let key = unsafe { key.text(call.table(), slot, guard.owner) };
        return review.enter(guard.owner, &key, found);
    }
    let message = too_similar::to_rows(guard, &call.trigger_name(), found);
    if guard.options.action == GuardAction::Warn {
        message.send(PgLogLevel::WARNING);
        return Ok(());
    }
    Err(message)
}
