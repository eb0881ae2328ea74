//! Where the server's errors and Rust's unwinding meet.
//!
//! The server reports an error by a jump that runs no destructors. Rust reports one by unwinding, which C code does not
//! know. So [`call`] stands around each call of a server function: it catches the jump and unwinds with the whole error
//! as payload. [`enter`] stands around each function of ours that the server calls: it catches what unwinds, and has
//! the server raise it again when everything in Rust is dropped. An error of user code that we call therefore arrives
//! as it was raised, with its SQLSTATE, context and object names. pgrx's own guard keeps five fields and a closed list
//! of SQLSTATEs; errors from functions that are called through pgrx lose the rest. The functions in `ffi.rs` are called
//! by [`call`].

use std::any::Any;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

use cee_scape::call_with_sigsetjmp;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::{CaughtError, ErrorReport, ErrorReportWithLevel};
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::error::sql_error;
use super::ffi;
use super::message::Message;

/// The payload of unwinding.
pub struct Raised(pub Box<Message>);

pg::session_state! {
    /// Where the last panic of ours began, for the log.
    static PANICKED_AT: RefCell<String> = RefCell::default();
    "where a panic began" by "the last" until "the next one" bytes |at| at.borrow().capacity();
}

/// The message that a payload carries, if it is such a one; otherwise it goes on unwinding.
pub fn raised_if(
    payload: Box<dyn Any + Send>,
    is_wanted: impl FnOnce(&Message) -> bool,
) -> Box<Message> {
    match payload.downcast::<Raised>() {
        Ok(raised) if is_wanted(&raised.0) => raised.0,
        Ok(raised) => resume_unwind(raised),
        Err(other) => resume_unwind(other),
    }
}

/// Sets a panic hook that notes where a panic began and prints nothing, since the panic's message is raised as an
/// error. It replaces pgrx's hook, which takes a backtrace each time when `RUST_BACKTRACE` is set.
pub fn define() {
    std::panic::set_hook(Box::new(|panic| {
        let at = panic.location().map_or(String::new(), |l| l.to_string());
        PANICKED_AT.with_borrow_mut(|noted| *noted = at);
    }));
}

/// Calls the server. If it raises an error, this unwinds with it.
///
/// # Safety
/// `f` has nothing to drop. It does not panic, and calls no Rust that could; a callback of ours that it leads to is an
/// entry. No other thread calls the server.
#[inline]
pub unsafe fn call<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: variables of this process, which no other thread uses. What is set here is set back on both ways out.
    unsafe {
        let memory = pg_sys::CurrentMemoryContext;
        let handler = pg_sys::PG_exception_stack;
        let contexts = pg_sys::error_context_stack;
        let mut result = MaybeUninit::uninit();
        let jumped = call_with_sigsetjmp(false, |here| {
            pg_sys::PG_exception_stack = std::ptr::from_ref(here).cast_mut().cast();
            result.write(f());
            0
        });
        pg_sys::PG_exception_stack = handler;
        pg_sys::error_context_stack = contexts;
        if jumped == 0 {
            return result.assume_init();
        }
        // The server has switched to ErrorContext for the handler of an error.
        pg_sys::CurrentMemoryContext = memory;
        resume_unwind(Box::new(Raised(caught())))
    }
}

/// The error that the server has just jumped with; the server forgets it.
///
/// # Safety
/// The server has jumped here.
#[cold]
unsafe fn caught() -> Box<Message> {
    // SAFETY: the server has jumped, so there is an error; it is copied before it is flushed.
    unsafe {
        let data = pg_sys::CopyErrorData();
        let message = Message::caught(&*data);
        pg_sys::FreeErrorData(data);
        pg_sys::FlushErrorState();
        message
    }
}

/// An error to be raised: in the server's memory, so that there is nothing to drop.
#[derive(Clone, Copy)]
struct Ready {
    data: *mut pg_sys::ErrorData,
    /// The server has raised it before, so its context is complete.
    again: bool,
}

/// Runs what the server has called. If it unwinds, the server raises what it unwinds with.
///
/// # Safety
/// The server itself calls it. An error jumps over the Rust functions above, so none of them has anything to drop or
/// catches panics.
#[inline]
pub unsafe fn enter<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: a variable of this process.
    let memory = unsafe { pg_sys::CurrentMemoryContext };
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => result,
        // SAFETY: the server has called this, and nothing above has to be dropped; a Ready has nothing to drop.
        Err(payload) => unsafe { raise(ready(payload, memory)) },
    }
}

/// Turns a payload into the server's form of it. Afterwards nothing in Rust is left to drop.
///
/// # Safety
/// `memory` is a context that lives.
#[cold]
#[inline(never)]
unsafe fn ready(payload: Box<dyn Any + Send>, memory: pg_sys::MemoryContext) -> Ready {
    let message = message_of(payload);
    // SAFETY: the caller has kept `memory` from before, so that context lives. Nobody uses contexts that were made
    // since, because unwinding has left the functions that made them.
    unsafe {
        pg_sys::CurrentMemoryContext = memory;
        Ready {
            data: message.data(),
            again: message.is_caught(),
        }
    }
}

/// # Safety
/// As for [`enter`].
#[cold]
unsafe fn raise(ready: Ready) -> ! {
    // SAFETY: the server has called this, and nothing above has to be dropped. The server copies what it is given.
    unsafe {
        if ready.data.is_null() {
            let mut out_of_memory = pg_sys::ErrorData {
                elevel: PgLogLevel::ERROR as i32,
                sqlerrcode: PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY as i32,
                message: c"out of memory".as_ptr().cast_mut(),
                ..Default::default()
            };
            ffi::raise::ThrowErrorData(&raw mut out_of_memory);
        }
        if ready.again {
            ffi::raise::ReThrowError(ready.data);
        }
        ffi::raise::ThrowErrorData(ready.data);
    }
    unreachable!("an ERROR does not return")
}

/// The message that a payload carries.
fn message_of(payload: Box<dyn Any + Send>) -> Box<Message> {
    let payload = match payload.downcast::<Raised>() {
        Ok(raised) => return raised.0,
        Err(other) => other,
    };
    // An error of a server function that was called through pgrx.
    let payload = match payload.downcast::<CaughtError>() {
        Ok(caught) => match *caught {
            CaughtError::PostgresError(report) | CaughtError::ErrorReport(report) => {
                return of_report(&report)
            }
            CaughtError::RustPanic { payload, .. } => payload,
        },
        Err(other) => other,
    };
    if let Some(report) = payload.downcast_ref::<ErrorReportWithLevel>() {
        return of_report(report);
    }
    if let Some(report) = payload.downcast_ref::<ErrorReport>() {
        let message = report.message().as_bytes().to_vec();
        let internal = sql_error(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message);
        return Box::new(Message::from(&internal));
    }
    let said = match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(said), _) => said,
        (_, Some(said)) => said.as_str(),
        _ => "unknown",
    };
    // A panic, which is a mistake of ours.
    let message = format!("internal error of bloom_ident: {said}");
    let mistake = sql_error(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message.into_bytes())
        .detail_log(PANICKED_AT.with_borrow(|at| format!("It began at {at}.")))
        .hint("Please report this with the statement that led to it.");
    Box::new(Message::from(&mistake))
}

/// An error of the server, as far as pgrx has kept it.
fn of_report(report: &ErrorReportWithLevel) -> Box<Message> {
    // What pgrx has is bytes of the database, whatever their type says.
    let stored = |text: &str| text.as_bytes().to_vec();
    let mut found = sql_error(report.sql_error_code(), stored(report.message()));
    if let Some(detail) = report.detail() {
        found = found.detail(stored(detail));
    }
    if let Some(hint) = report.hint() {
        found = found.hint(stored(hint));
    }
    Box::new(Message::from(&found))
}
