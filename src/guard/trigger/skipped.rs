//! What becomes of a row that `skip` leaves out: it is entered into the table of option `skipped`, and the first one of a statement is told of.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::c_void;

use bloom_ident_core::guard::similar_rows::SimilarRows;
use pgrx::{pg_sys, PgLogLevel};

use super::call::TriggerCall;
use crate::guard::prepared::PreparedGuard;
use crate::guard::read_rights;
use crate::pg::catalog;
use crate::pg::entry;
use crate::pg::message::{words, Message, OrMessage};

thread_local! {
    /// The guards that have told of a row they left out, by the memory of the statement and the topmost table with the trigger.
    static TOLD: RefCell<HashSet<(usize, pg_sys::Oid, Vec<u8>)>> = RefCell::default();
}

/// `message` says why the row is left out, and `found` has the rows that it is similar to, if they are known.
///
/// Errors: those of writing to the table of option `skipped`.
///
/// # Safety
/// The call's slots hold rows of the trigger's table.
pub unsafe fn skip(
    call: &TriggerCall,
    guard: &PreparedGuard,
    message: Box<Message>,
    found: Option<&SimilarRows>,
) -> OrMessage<()> {
    if let Some(skipped) = &guard.skipped {
        if let Some(found) = found {
            read_rights::check_review_owner(guard, found, skipped.table(), || call.trigger_name())?;
        }
        let similar = found.and_then(|found| found.best.first());
        // SAFETY: the slot holds a row of the trigger's table, as the caller promises.
        unsafe { skipped.enter(guard.owner, (call.relation(), call.new_row()), similar)? };
    }
    // SAFETY: the function is that of the running call.
    if unsafe { is_first(call, guard) } {
        let hint = match &guard.skipped {
            Some(skipped) => words!(
                " Table \"",
                catalog::name(skipped.table()),
                "\" has what is left out."
            ),
            None => words!(" Option \"skipped\" can keep what is left out in a table."),
        };
        message
            .more_detail(b" Further rows of this statement are skipped without a notice.")
            .more_hint(&hint)
            .send(PgLogLevel::NOTICE);
    }
    Ok(())
}

/// Whether the guard leaves out no other row of this statement before. The server keeps the function in memory of the statement, which is the same for all partitions.
///
/// # Safety
/// The function is that of the running call.
unsafe fn is_first(call: &TriggerCall, guard: &PreparedGuard) -> bool {
    // SAFETY: the function is that of the running call, and what is called when its memory is freed is an entry.
    unsafe {
        let memory = (*call.function).fn_mcxt;
        let name = call.trigger_name().into_bytes();
        let is_first = TOLD.with_borrow_mut(|told| {
            let is_known = told.iter().any(|(of, ..)| *of == memory as usize);
            told.insert((memory as usize, guard.top, name))
                .then_some(is_known)
        });
        if is_first == Some(false) {
            let callback: *mut pg_sys::MemoryContextCallback =
                pg_sys::MemoryContextAlloc(memory, size_of::<pg_sys::MemoryContextCallback>())
                    .cast();
            callback.write(pg_sys::MemoryContextCallback {
                func: Some(forget),
                arg: memory.cast(),
                next: std::ptr::null_mut(),
            });
            pg_sys::MemoryContextRegisterResetCallback(memory, callback);
        }
        is_first.is_some()
    }
}

/// The statement is over.
///
/// # Safety
/// The server calls it when the memory of a statement is freed.
#[entry]
unsafe extern "C-unwind" fn forget(memory: *mut c_void) {
    TOLD.with_borrow_mut(|told| told.retain(|(of, ..)| *of != memory as usize));
}
