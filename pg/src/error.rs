//! Errors as PostgreSQL's.

use std::panic::resume_unwind;

use base::error::Text;
use base::{Error, ErrorKind, Result};
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::boundary::Raised;
use super::message::Message;

/// An error of an SQLSTATE that the core does not know.
#[cold]
pub fn sql_error(code: PgSqlErrorCode, message: impl Into<Text>) -> Error {
    Error::new(ErrorKind::State(code as i32), message)
}

/// Fails the statement.
#[cold]
pub fn raise(error: &Error) -> ! {
    resume_unwind(Box::new(Raised(Box::new(error.into()))))
}

/// Sends a warning; the statement goes on.
#[cold]
pub fn warn(error: &Error) {
    error.send(PgLogLevel::WARNING);
}

/// Sends what is of a lower level than an error; the statement goes on.
pub trait Tell {
    /// Sends it as a warning or a notice.
    fn send(&self, level: PgLogLevel);
}

impl Tell for Error {
    #[cold]
    fn send(&self, level: PgLogLevel) {
        Message::from(self).send(level);
    }
}

/// Fails the statement as XX000, over something that only a mistake of ours can bring about. The arguments are those of
/// `format!`.
#[macro_export]
macro_rules! internal {
    ($($message:tt)+) => { $crate::error::raise(&$crate::error::sql_error(pgrx::PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, format!($($message)+))) };
}
pub use crate::internal;

/// Sends a notice; its arguments are those of `format!`.
#[macro_export]
macro_rules! notice {
    ($($message:tt)+) => { $crate::error::tell(pgrx::PgLogLevel::NOTICE, format!($($message)+)) };
}
pub use crate::notice;

/// Sends a message of a lower level than a warning.
pub fn tell(level: PgLogLevel, message: impl Into<Text>) {
    sql_error(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message).send(level);
}

/// Ends the statement over an error.
pub trait OrRaise<T> {
    /// The value, or the statement fails.
    fn or_raise(self) -> T;
}

impl<T> OrRaise<T> for Result<T> {
    #[inline]
    fn or_raise(self) -> T {
        self.unwrap_or_else(|e| raise(&e))
    }
}

/// For input functions: hands the error to a caller that collects errors, such as `pg_input_is_valid` and
/// `COPY … ON_ERROR`. Without such a caller the statement fails. If this returns, the error was collected.
#[cfg(not(feature = "pg15"))]
pub fn save_or_raise(fcinfo: pg_sys::FunctionCallInfo, error: &Error) {
    // SAFETY: fcinfo is that of the running call; its context is NULL or a node.
    let context = unsafe { (*fcinfo).context };
    // SAFETY: a context that is not NULL is a node, which begins with its tag.
    if context.is_null() || unsafe { (*context).type_ } != pg_sys::NodeTag::T_ErrorSaveContext {
        raise(error);
    }
    let data = Message::from(error).data();
    if data.is_null() {
        raise(error);
    }
    // SAFETY: the context is an ErrorSaveContext, and the data, with its texts, is in the server's memory.
    unsafe { super::ffi::save(context, data) };
}

/// The same for PostgreSQL 15, in which nobody collects errors.
#[cfg(feature = "pg15")]
pub fn save_or_raise(_: pg_sys::FunctionCallInfo, error: &Error) {
    raise(error);
}
