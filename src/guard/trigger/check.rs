//! Which row is checked, and what comes of it.

use base::Result;
use linkage::guard::options::GuardAction;

use super::call::TriggerCall;
use super::partition_moves;
use super::version;
use crate::guard::actions::{act, keep, once, read_rights, too_similar};
use crate::guard::candidates::{
    bulk, search, FoundKeys, PendingRows, RowTid, SearchOutcome, SearchedRow,
};
use crate::guard::compare::by_signature::ComparedSignature;
use crate::guard::compare::decisions::write::decide;
use crate::guard::compare::decisions::DecidedRow;
use crate::guard::prepared::PreparedGuard;
use crate::guard::row::Row;
use pg::values::varlena::is_same_varlena;

/// Action `skip`: the row is not in the table yet, and is left out if it is too similar to another one, or left as it
/// is if it would become another. Returns whether it goes on.
///
/// Errors: those of writing to the table of skipped rows.
pub fn before(call: &TriggerCall, guard: &PreparedGuard) -> Result<bool> {
    let new = call.new_row();
    if !keep::check(call, guard, &new)? {
        return Ok(false);
    }
    let Some(signature) = signature(guard, &new) else {
        return Ok(true);
    };
    let own = call.old_tid();
    let is_known = match call.old_row() {
        None => partition_moves::arrives(call, guard, &new),
        Some(old) => is_same(guard, &old, &new) && is_compared_as_before(guard, &old, &new),
    };
    let goes_on = if is_known || signature.is_empty() {
        true
    } else if guard.own.judge.ignores(&signature) {
        once::tell_full(call, guard);
        true
    } else {
        check(call, guard, &signature, &new, own)?
    };
    if let Some(own) = own.filter(|_| goes_on) {
        partition_moves::remember(call, guard, own, &new);
    }
    Ok(goes_on)
}

/// Actions `reject`, `warn` and `flag`: the row is in the table already, and its index entry too.
///
/// Errors: the row is too similar to another one (23P85), or has become another (23P86), and the action is `reject`;
/// those of writing to the review table.
pub fn after(call: &TriggerCall, guard: &PreparedGuard) -> Result<()> {
    let new = call.new_row();
    keep::check(call, guard, &new)?;
    let Some(signature) = signature(guard, &new).filter(|signature| !signature.is_empty()) else {
        return Ok(());
    };
    let old = call.old_row();
    if guard.own.judge.ignores(&signature) {
        if !old.is_some_and(|old| is_same(guard, &old, &new)) {
            once::tell_full(call, guard);
        }
        return Ok(());
    }
    // The check of a row that this transaction has inserted may have been left to its newest version.
    let is_checked = |old: &Row| {
        is_same(guard, old, &new)
            && is_compared_as_before(guard, old, &new)
            && !version::is_of_this_transaction(old)
    };
    if old.as_ref().is_some_and(is_checked) {
        return Ok(());
    }
    let check = |row: &Row| {
        let own = RowTid {
            table: call.table(),
            // SAFETY: the slot holds the row.
            tid: unsafe { (*row.slot).tts_tid }.into(),
        };
        check(call, guard, &signature, row, Some(own)).map(|_| ())
    };
    if version::is_live(&new) {
        return check(&new);
    }
    // A deferred trigger, and one that fires after another trigger has changed the row, fires for a version that is no
    // longer the newest. If the trigger fires for every UPDATE, it fires for the newest version too.
    if call.fires_for_every_update() {
        return Ok(());
    }
    match version::newest(&new) {
        Some(newest) if is_same(guard, &newest, &new) => check(&newest),
        _ => Ok(()),
    }
}

/// The signature of a row of the trigger's table, `None` for NULL.
fn signature<'a>(guard: &PreparedGuard, row: &'a Row) -> Option<ComparedSignature<'a>> {
    let column = guard.own.signature;
    // SAFETY: the column is one of signatures of this type, and the value lives as long as the row.
    let of = |value| unsafe { ComparedSignature::of(column.of_type, value) };
    row.get(column.number).map(of)
}

/// Whether two versions of a row have the same in the columns that the judge reads.
fn is_same(guard: &PreparedGuard, a: &Row, b: &Row) -> bool {
    guard
        .own
        .columns
        .iter()
        .all(|&column| match (a.get(column), b.get(column)) {
            // SAFETY: a column that a judge reads is of a type with varlenas.
            (Some(a), Some(b)) => unsafe { is_same_varlena(a, b) },
            (a, b) => a.is_none() && b.is_none(),
        })
}

/// Whether an UPDATE leaves it open with which rows a row is compared: it is equal to the same ones, or to none, in the
/// columns of `within`, and decisions about it as it was are about it as it is. With another key, a row that was let in
/// by a decision could give its key to the next one.
fn is_compared_as_before(guard: &PreparedGuard, old: &Row, new: &Row) -> bool {
    let values = guard.own.within.values(new);
    // SAFETY: the values are of the columns' types.
    let is_equal = |values: Vec<_>| unsafe { guard.own.within.is_equal(old, &values) };
    let is_of_same_key = || match (&guard.decisions, &guard.own.key) {
        (Some(_), Some(key)) => key.text(old, guard.owner) == key.text(new, guard.owner),
        _ => true,
    };
    values.is_none_or(is_equal) && is_of_same_key()
}

/// Searches for rows that are similar to one, and does what the action says. Returns whether it goes on. `own` is the
/// row in the table, if it is there.
fn check(
    call: &TriggerCall,
    guard: &PreparedGuard,
    signature: &ComparedSignature<'_>,
    row: &Row,
    own: Option<RowTid>,
) -> Result<bool> {
    let Some(within) = guard.own.within.values(row) else {
        return Ok(true);
    };
    read_rights::check_owner(guard)?;
    let is_before = guard.options.action.is_before();
    if let Some(own) = own.filter(|_| !is_before) {
        let trigger = (call.trigger().tgoid, call.fires_for_every_update());
        // SAFETY: the trigger's table is open, and the row is in it, with its index entries.
        if unsafe { bulk::is_clear(guard, trigger, call.relation(), own) } {
            return Ok(true);
        }
    }
    let Some(subject) = guard.own.judge.subject(guard.own.judged(row)) else {
        return Ok(true);
    };
    let pending = match guard.options.action {
        GuardAction::Reject | GuardAction::Skip => PendingRows::WaitFor,
        GuardAction::Warn | GuardAction::Flag => PendingRows::Count,
    };
    let decided = guard.decisions.as_ref().zip(guard.own.key.as_ref());
    let decided = decided.map(|(decisions, key)| DecidedRow {
        decisions,
        row,
        key: key.text(row, guard.owner),
    });
    let outcome = decide(decided.as_ref(), |keys: Option<&FoundKeys>| {
        let wanted = SearchedRow {
            signature,
            subject: &*subject,
            within: &within,
            decided: decided.as_ref(),
            keys,
        };
        search(guard, wanted, own, pending)
    });
    match outcome {
        SearchOutcome::Rows(found) if found.count == 0 => Ok(true),
        SearchOutcome::Rows(found) => act(call, guard, row, Some(&found), || {
            too_similar::to_rows(guard, &found)
        }),
        SearchOutcome::Deadlock => act(call, guard, row, None, || {
            too_similar::to_a_waiting_row(guard)
        }),
    }
}
