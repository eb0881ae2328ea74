//! Action `skip`: the row is not in the table yet, and is left out if it is too similar to another one, or left as it is if it
//! would become another.

use pgrx::pg_sys;

use super::call::TriggerCall;
use super::deciding::{decide, decided_row, is_of_same_key, is_stored_generated};
use super::{
    are_same_tokens, generated, is_unchanged, kept, moved, skipped, told, too_similar, NOTHING,
};
use crate::guard::prepared::PreparedGuard;
use crate::guard::read_rights;
use crate::guard::search::{search, PendingRows, RowTid, SearchOutcome, SearchedRow};
use crate::guard::tables::column::attribute;
use crate::guard::tables::signature::ComparedSignature;
use crate::guard::tables::tokens::WantedTokens;
use pg::message::OrMessage;

/// The row that goes on, or [`NOTHING`] if it is skipped.
pub fn run(call: &TriggerCall, guard: &PreparedGuard) -> OrMessage<pg_sys::Datum> {
    let slot = call.new_row();
    // SAFETY: the call does not outlive the trigger's call, so its slots and tuples are rows of the trigger's table, which is
    // open. The guard's column is a signature column of that table, stored and generated if the guard says so.
    unsafe {
        let get = |number, is_generated| match is_generated {
            true => generated::value(call.relation(), number, slot, call.function),
            false => attribute(slot, number),
        };
        let new = get(guard.column.number, guard.is_generated);
        let tokens = guard.tokens.and_then(|c| get(c.number, c.is_generated));
        if !kept::check(call, guard, new, tokens)? {
            return Ok(NOTHING);
        }
        let Some(new) = new else {
            return Ok(call.go_on());
        };
        let signature = ComparedSignature::of(guard.column.of_type, new);
        let Some(within) = guard.within.values_by(get) else {
            return Ok(call.go_on());
        };
        let value = |column: i16| get(column, is_stored_generated(call.table(), column));
        let decided = decided_row(call, guard, slot, &value);
        let wanted = SearchedRow {
            signature: &signature,
            tokens: None,
            within: &within,
            decided: decided.as_ref(),
            keys: None,
        };
        let Some(old) = call.old_row() else {
            if moved::arrives(call, guard, &signature, tokens) {
                return Ok(call.go_on());
            }
            return skip_or_go_on(call, guard, wanted, tokens, None);
        };
        let own = RowTid {
            table: call.table(),
            tid: (*(*call.data).tg_trigtuple).t_self.into(),
        };
        let old_tokens = guard.tokens.and_then(|c| attribute(old, c.number));
        let is_same = is_unchanged(attribute(old, guard.column.number), &signature)
            && are_same_tokens(old_tokens, tokens)
            && guard.within.is_equal(old, &within)
            && is_of_same_key(call, guard, old, slot);
        let result = if is_same {
            call.go_on()
        } else {
            skip_or_go_on(call, guard, wanted, tokens, Some(own))?
        };
        if result != NOTHING {
            moved::remember(call, guard, own, &signature, tokens);
        }
        Ok(result)
    }
}

/// `tokens` are those of the row, if the guard compares them; `own` is the row that an UPDATE changes.
///
/// # Safety
/// `tokens` is a `text[]` that is readable during the call, or `None` for NULL.
unsafe fn skip_or_go_on(
    call: &TriggerCall,
    guard: &PreparedGuard,
    wanted: SearchedRow<'_>,
    tokens: Option<pg_sys::Datum>,
    own: Option<RowTid>,
) -> OrMessage<pg_sys::Datum> {
    if wanted.signature.is_empty() {
        return Ok(call.go_on());
    }
    if guard.ignores(wanted.signature) {
        // SAFETY: the function is that of the running call.
        unsafe { told::tell_full(call, guard) };
        return Ok(call.go_on());
    }
    read_rights::check_owner(guard, || call.trigger_name())?;
    // SAFETY: the caller says so.
    let tokens = unsafe { WantedTokens::of(tokens) };
    if guard.tokens.is_some() && tokens.is_none() {
        return Ok(call.go_on());
    }
    let wanted = SearchedRow {
        tokens: tokens.as_ref(),
        ..wanted
    };
    let trigger = call.trigger_name();
    let (message, found) = match decide(wanted.decided, |keys| {
        let wanted = SearchedRow { keys, ..wanted };
        search(guard, wanted, own, PendingRows::WaitFor)
    }) {
        SearchOutcome::Rows(found) if found.count == 0 => return Ok(call.go_on()),
        SearchOutcome::Rows(found) => {
            let message = too_similar::to_rows(guard, &trigger, &found);
            (message, Some(found))
        }
        SearchOutcome::Deadlock => (too_similar::to_a_waiting_row(guard, &trigger), None),
    };
    // SAFETY: the call does not outlive the trigger's call, so its slots hold rows of its table.
    unsafe { skipped::skip(call, guard, message, found.as_ref())? };
    Ok(NOTHING)
}
