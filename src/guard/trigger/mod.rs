//! The trigger function `bloom_guard`.
//!
//! [`call`]: what the trigger manager passes. [`cache`] keeps what [`first_use`] prepares. [`check`]: which row is
//! checked, and against what. [`version`]: versions of a row; [`partition_moves`]: rows on their way between
//! partitions.

mod cache;
pub mod call;
mod check;
mod first_use;
mod partition_moves;
mod version;

use base::Result;
use pg::error::OrRaise;
use pgrx::pg_sys;

use call::TriggerCall;

use pg::entry;
use pg::values::varlena::NewValue;

/// `() RETURNS trigger`
///
/// `bloom_guard() RETURNS trigger`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_guard(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which lives until it returns.
    NewValue(unsafe { run(fcinfo) }.or_raise())
}

/// Returns the row that goes on; NULL if a BEFORE trigger skips it, or for an AFTER trigger.
///
/// # Safety
/// `fcinfo` is that of the running call.
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: the server's call runs until this function returns, so `call` does not outlive it.
    let call = unsafe { TriggerCall::of(fcinfo)? };
    let guard = cache::guard(&call)?;
    if !guard.options.action.is_before() {
        check::after(&call, &guard)?;
        return Ok(pg_sys::Datum::null());
    }
    Ok(match check::before(&call, &guard)? {
        true => call.go_on(),
        false => pg_sys::Datum::null(),
    })
}
