//! What is done about a row that is too similar to others, or has become another: it is refused, warned of, left out or
//! written down.
//!
//! [`act`] does what the action says; [`violations`] says what is wrong with a row. [`written_table`]: the tables that
//! are written to, with whose rights `pg::session::acting_user` says. [`rights`]: whose rows may be searched, and who may be told
//! of what was found.

pub mod rights;
pub mod violations;
pub mod written_table;

use base::{Error, Result};
use pg::error::{sql_error, Tell};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::{c_void, CString};

use linkage::guard::options::GuardAction;
use linkage::guard::similar_rows::SimilarRows;
use pgrx::PgSqlErrorCode::ERRCODE_WARNING;
use pgrx::{pg_sys, PgLogLevel};

use super::prepared::PreparedGuard;
use super::trigger::TriggerCall;
use pg::entry;
use pg::message::words;
use pg::row::Row;

/// Does with a row what the action says, and returns whether the row goes on. `found` has the rows that it is similar
/// to, if they are known; `message` says so.
///
/// Errors: the message, where the action is `reject`; those of writing to the review table or to that of skipped rows.
pub fn act(
    call: &TriggerCall,
    guard: &PreparedGuard,
    row: &Row,
    found: Option<&SimilarRows>,
    message: impl FnOnce() -> Error,
) -> Result<bool> {
    match guard.options.action {
        GuardAction::Reject => Err(message()),
        GuardAction::Warn => {
            message().send(PgLogLevel::WARNING);
            Ok(true)
        }
        GuardAction::Flag => {
            if let (Some(review), Some(key), Some(found)) = (&guard.review, &guard.own.key, found) {
                rights::check_written_owner(guard, found, review.oid)?;
                review.enter_pairs(guard.owner, &key.text(row, guard.owner), found)?;
            }
            Ok(true)
        }
        GuardAction::Skip => {
            if let Some(skipped) = &guard.skipped {
                if let Some(found) = found {
                    rights::check_written_owner(guard, found, skipped.table.oid)?;
                }
                let similar = found.and_then(|found| found.best.first());
                skipped.enter(guard.owner, row, similar)?;
            }
            if is_first(call, guard, Notice::Skipped) {
                notify_skipped(guard, message());
            }
            Ok(false)
        }
    }
}

fn notify_skipped(guard: &PreparedGuard, message: Error) {
    let hint = match &guard.skipped {
        Some(skipped) => words!(" Table \"{skipped.table.oid}\" has what is left out."),
        None => words!(" Option \"skipped\" can keep what is left out in a table."),
    };
    message
        .more(
            " Further rows of this statement are skipped without a notice.",
            &hint,
        )
        .send(PgLogLevel::NOTICE);
}

/// What a guard tells once in a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Notice {
    /// A row was left out.
    Skipped,
    /// A signature is full.
    Full,
}

/// What was sent: the memory of the statement, and the topmost table with the trigger and the trigger's name.
type SentNotice = (usize, Notice, pg_sys::Oid, CString);

pg::session_state! {
    static SENT: RefCell<HashSet<SentNotice>> = RefCell::default();
    "told news" by "statement, kind, table and trigger" until "the statement ends" bytes |sent| {
        let sent = sent.borrow();
        sent.iter().map(|(.., name)| size_of::<SentNotice>() + name.count_bytes()).sum()
    };
}

/// Whether this guard has sent nothing of the kind in this statement. The server keeps the trigger's function in memory
/// of the statement, which is the same for all partitions.
fn is_first(call: &TriggerCall, guard: &PreparedGuard, kind: Notice) -> bool {
    // SAFETY: the function is that of the running call, and what is called when its memory is freed is an entry.
    unsafe {
        let memory = (*call.function).fn_mcxt;
        let name = guard.trigger.clone();
        let is_known = SENT.with_borrow(|sent| sent.iter().any(|(of, ..)| *of == memory as usize));
        // First, since it can fail for lack of memory: what is noted is always forgotten.
        if !is_known {
            let size = size_of::<pg_sys::MemoryContextCallback>();
            let callback: *mut pg_sys::MemoryContextCallback =
                pg_sys::MemoryContextAlloc(memory, size).cast();
            let (func, arg, next) = (Some(forget as _), memory.cast(), std::ptr::null_mut());
            callback.write(pg_sys::MemoryContextCallback { func, arg, next });
            pg_sys::MemoryContextRegisterResetCallback(memory, callback);
        }
        SENT.with_borrow_mut(|sent| sent.insert((memory as usize, kind, guard.top, name)))
    }
}

/// The statement is over.
///
/// # Safety
/// The server calls it when the memory of a statement is freed.
#[entry]
unsafe extern "C-unwind" fn forget(memory: *mut c_void) {
    // Nothing here raises an error. Where the process ends in a hurry, there may be nothing left to forget it in.
    let _ = SENT.try_with(|sent| sent.borrow_mut().retain(|(of, ..)| *of != memory as usize));
}

/// Tells that a row is not checked, since its signature says too little.
pub fn notify_full(call: &TriggerCall, guard: &PreparedGuard) {
    if !is_first(call, guard, Notice::Full) {
        return;
    }
    let message = sql_error(
        ERRCODE_WARNING,
        words!(
            "new row for relation \"{guard.top}\" is not compared: more than 90 % of the \
                bits of its signature are set"
        ),
    )
    .detail(
        "Such a signature is similar to others whatever was signed. \
        Further rows of this statement with one are let in without a warning.",
    )
    .hint(words!(
        "Plan signatures for longer texts, by max_chars; or compare such rows \
                by option \"saturated\" of trigger \"{guard.trigger}\"."
    ));
    guard.about(message).send(PgLogLevel::WARNING);
}
