//! The trigger function `bloom_guard`.

mod after;
mod before;
mod cache;
mod call;
mod deciding;
mod first_use;
mod generated;
mod kept;
mod moved;
mod skipped;
mod told;
mod too_similar;
mod version;

use pgrx::pg_sys;

use call::TriggerCall;

use crate::guard::tables::signature::ComparedSignature;
use pg::entry;
use pg::message::OrMessage;
use pg::values::varlena::{is_same_varlena, NewValue};

/// What a trigger function returns so that an AFTER trigger goes on, or a BEFORE trigger skips the row.
const NOTHING: pg_sys::Datum = pg_sys::Datum::null();

/// `() RETURNS trigger`
///
/// `bloom_guard() RETURNS trigger`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_guard(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which lives until it returns.
    NewValue(unsafe { run(fcinfo) }.unwrap_or_else(|message| message.raise()))
}

/// # Safety
/// `fcinfo` is that of the running call.
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> OrMessage<pg_sys::Datum> {
    // SAFETY: the server's call runs until this function returns, so `call` does not outlive it.
    let call = unsafe { TriggerCall::of(fcinfo)? };
    let guard = cache::guard(&call)?;
    if guard.options.action.is_before() {
        before::run(&call, &guard)
    } else {
        after::run(&call, &guard).map(|()| NOTHING)
    }
}

/// Whether an UPDATE leaves the tokens as they were; `None` is NULL, or that they are not compared.
///
/// # Safety
/// Both are of type `text[]`, and readable during the call.
unsafe fn are_same_tokens(old: Option<pg_sys::Datum>, new: Option<pg_sys::Datum>) -> bool {
    match (old, new) {
        // SAFETY: arrays are varlenas.
        (Some(old), Some(new)) => unsafe { is_same_varlena(old, new) },
        _ => old.is_none() && new.is_none(),
    }
}

/// Whether an UPDATE leaves the signature as it was; `old` is the old value, `None` for NULL.
///
/// # Safety
/// `old` is a signature of the type of `new` that is readable during the call.
unsafe fn is_unchanged(old: Option<pg_sys::Datum>, new: &ComparedSignature<'_>) -> bool {
    // SAFETY: `old` is a readable signature, as the caller promises.
    old.is_some_and(|old| unsafe { new.other(old) }.bytes() == new.bytes())
}
