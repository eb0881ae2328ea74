//! The core's errors as PostgreSQL's.

use base::{Error, ErrorKind, Result};
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::message::Message;
use crate::values::text::in_message;

fn sqlstate(kind: ErrorKind) -> PgSqlErrorCode {
    match kind {
        ErrorKind::InvalidParameter => PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
        ErrorKind::InvalidText => PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION,
        ErrorKind::InvalidBinary => PgSqlErrorCode::ERRCODE_INVALID_BINARY_REPRESENTATION,
        ErrorKind::DataException => PgSqlErrorCode::ERRCODE_DATA_EXCEPTION,
        ErrorKind::DatetimeFormat => PgSqlErrorCode::ERRCODE_INVALID_DATETIME_FORMAT,
        ErrorKind::DatetimeOverflow => PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
        ErrorKind::NullNotAllowed => PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
        ErrorKind::ArraySubscript => PgSqlErrorCode::ERRCODE_ARRAY_ELEMENT_ERROR,
        ErrorKind::LimitExceeded => PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ErrorKind::NotSupported => PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        ErrorKind::Corrupted => PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED,
        ErrorKind::NewerFormat => PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        ErrorKind::OutOfMemory => PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
    }
}

/// Fails the statement.
#[cold]
pub fn raise(error: &Error) -> ! {
    raise_as(sqlstate(error.kind()), error)
}

/// Fails the statement under an SQLSTATE that the core does not know.
#[cold]
pub fn raise_as(code: PgSqlErrorCode, error: &Error) -> ! {
    message(code, error).raise()
}

/// Sends a warning; the statement goes on.
#[cold]
pub fn warn(error: &Error) {
    message(sqlstate(error.kind()), error).send(PgLogLevel::WARNING);
}

/// Fails the statement as XX000, over something that only a mistake of ours can bring about. The arguments are those of
/// `format!`.
#[macro_export]
macro_rules! internal {
    ($($message:tt)+) => { $crate::error::fail_internal(&format!($($message)+)) };
}
pub use crate::internal;

/// Sends a notice; its arguments are those of `format!`.
#[macro_export]
macro_rules! notice {
    ($($message:tt)+) => { $crate::error::tell(pgrx::PgLogLevel::NOTICE, &format!($($message)+)) };
}
pub use crate::notice;

/// Fails the statement with a message and nothing else.
#[cold]
pub fn fail(code: PgSqlErrorCode, message: &str) -> ! {
    Message::of(code, in_message(message)).raise()
}

/// Fails the statement as XX000.
#[cold]
pub fn fail_internal(message: &str) -> ! {
    fail(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message)
}

/// Sends a message of a lower level than an error.
pub fn tell(level: PgLogLevel, message: &str) {
    let code = PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION;
    Message::of(code, in_message(message)).send(level);
}

fn message(code: PgSqlErrorCode, error: &Error) -> Box<Message> {
    let mut message = Message::of(code, in_message(error.message()));
    if let Some(detail) = error.detail_text() {
        message = message.detail(in_message(detail));
    }
    if let Some(hint) = error.hint_text() {
        message = message.hint(in_message(hint));
    }
    message
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
    let data = message(sqlstate(error.kind()), error).data();
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
