//! What is told once in a statement.

use pg::error::{sql_error, Tell};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::{c_void, CString};

use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use crate::guard::prepared::PreparedGuard;
use crate::guard::trigger::call::TriggerCall;
use pg::catalog;
use pg::entry;
use pg::message::words;

/// What is told of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum News {
    /// A row was left out.
    Skipped,
    /// A signature is full.
    Full,
}

/// What was told: the memory of the statement, and the topmost table with the trigger and the trigger's name.
type ToldNews = (usize, News, pg_sys::Oid, CString);

pg::session_state! {
    static TOLD: RefCell<HashSet<ToldNews>> = RefCell::default();
    "told news" by "statement, kind, table and trigger" until "the statement ends" bytes |told| {
        let told = told.borrow();
        told.iter().map(|(.., name)| size_of::<ToldNews>() + name.count_bytes()).sum()
    };
}

/// Whether this guard has told nothing of the kind in this statement. The server keeps the trigger's function in memory
/// of the statement, which is the same for all partitions.
pub fn is_first(call: &TriggerCall, guard: &PreparedGuard, news: News) -> bool {
    // SAFETY: the function is that of the running call, and what is called when its memory is freed is an entry.
    unsafe {
        let memory = (*call.function).fn_mcxt;
        let name = guard.trigger.clone();
        let is_known = TOLD.with_borrow(|told| told.iter().any(|(of, ..)| *of == memory as usize));
        // First, since it can fail for lack of memory: what is noted is always forgotten.
        if !is_known {
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
        TOLD.with_borrow_mut(|told| told.insert((memory as usize, news, guard.top, name)))
    }
}

/// The statement is over.
///
/// # Safety
/// The server calls it when the memory of a statement is freed.
#[entry]
unsafe extern "C-unwind" fn forget(memory: *mut c_void) {
    // Nothing here raises an error. Where the process ends in a hurry, there may be nothing left to forget it in.
    let _ = TOLD.try_with(|told| told.borrow_mut().retain(|(of, ..)| *of != memory as usize));
}

/// Tells that a row is not checked, since its signature says too little.
pub fn tell_full(call: &TriggerCall, guard: &PreparedGuard) {
    if !is_first(call, guard, News::Full) {
        return;
    }
    let message = sql_error(
        PgSqlErrorCode::ERRCODE_WARNING,
        words!(
            "new row for relation \"{}\" is not compared: more than 90 % of the \
                bits of its signature are set",
            catalog::name(guard.top)
        ),
    )
    .detail(
        "Such a signature is similar to others whatever was signed. \
        Further rows of this statement with one are let in without a warning.",
    )
    .hint(words!(
        "Plan signatures for longer texts, by max_chars; or compare such rows \
                by option \"saturated\" of trigger \"{}\".",
        guard.trigger
    ));
    guard.about(message).send(PgLogLevel::WARNING);
}
