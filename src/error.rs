//! The core's errors as PostgreSQL's.

use bloom_ident_core::{Error, Kind, Result};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use crate::types::is_utf8_database;

fn sqlstate(kind: Kind) -> PgSqlErrorCode {
    match kind {
        Kind::InvalidParameter => PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
        Kind::InvalidText => PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION,
        Kind::InvalidBinary => PgSqlErrorCode::ERRCODE_INVALID_BINARY_REPRESENTATION,
        Kind::DataException => PgSqlErrorCode::ERRCODE_DATA_EXCEPTION,
        Kind::DatetimeFormat => PgSqlErrorCode::ERRCODE_INVALID_DATETIME_FORMAT,
        Kind::DatetimeOverflow => PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
        Kind::NullNotAllowed => PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
        Kind::ArraySubscript => PgSqlErrorCode::ERRCODE_ARRAY_ELEMENT_ERROR,
        Kind::LimitExceeded => PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        Kind::Corrupted => PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED,
        Kind::OutOfMemory => PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
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
    let mut report = ErrorReport::new(code, shown(error.message()), "bloom_ident");
    if let Some(detail) = error.detail_text() {
        report = report.set_detail(shown(detail));
    }
    if let Some(hint) = error.hint_text() {
        report = report.set_hint(shown(hint));
    }
    report.report(PgLogLevel::ERROR);
    unreachable!("an ERROR does not return")
}

/// A text as the server's messages can carry it: pgrx passes bytes on unconverted, so that outside
/// UTF-8 databases what is not ASCII is shown by its code point.
pub fn shown(text: &str) -> String {
    if text.is_ascii() || is_utf8_database() {
        return text.to_owned();
    }
    text.chars().fold(String::new(), |mut shown, c| {
        if c.is_ascii() {
            shown.push(c);
        } else {
            shown.push_str(&format!("U+{:04X}", u32::from(c)));
        }
        shown
    })
}

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

/// Goes on, with a warning.
#[cold]
pub fn warn(error: &Error) {
    let (code, message) = (sqlstate(error.kind()), shown(error.message()));
    let mut report = ErrorReport::new(code, message, "bloom_ident");
    if let Some(detail) = error.detail_text() {
        report = report.set_detail(shown(detail));
    }
    if let Some(hint) = error.hint_text() {
        report = report.set_hint(shown(hint));
    }
    report.report(PgLogLevel::WARNING);
}

/// For input functions: hands the error to a caller that collects errors (`pg_input_is_valid`,
/// `COPY … ON_ERROR`), and otherwise fails the statement. Returning means it was collected.
#[cfg(not(feature = "pg15"))]
pub fn save_or_raise(fcinfo: pg_sys::FunctionCallInfo, error: &Error) {
    use std::ffi::{c_char, c_int, CString};

    // bindgen leaves out variadic functions that are also macros
    unsafe extern "C-unwind" {
        fn errcode(code: c_int) -> c_int;
        fn errmsg(format: *const c_char, ...) -> c_int;
        fn errdetail(format: *const c_char, ...) -> c_int;
        fn errhint(format: *const c_char, ...) -> c_int;
    }

    // SAFETY: fcinfo is that of the running call; its context is NULL or a node.
    let context = unsafe { (*fcinfo).context };
    // SAFETY: as above.
    if context.is_null() || unsafe { (*context).type_ } != pg_sys::NodeTag::T_ErrorSaveContext {
        raise(error);
    }
    let text = |s: Option<&str>| s.and_then(|s| CString::new(shown(s).replace('\0', " ")).ok());
    let message = text(Some(error.message()));
    let (detail, hint) = (text(error.detail_text()), text(error.hint_text()));
    // SAFETY: the protocol of errsave(): fields are set only between start and finish, every
    // string outlives the call, and none of these functions raises an error.
    unsafe {
        if !pg_sys::errsave_start(context, std::ptr::null()) {
            return;
        }
        errcode(sqlstate(error.kind()) as c_int);
        let strings = [
            (
                message,
                errmsg as unsafe extern "C-unwind" fn(*const c_char, ...) -> c_int,
            ),
            (detail, errdetail),
            (hint, errhint),
        ];
        for (string, set) in strings {
            if let Some(string) = string {
                set(c"%s".as_ptr(), string.as_ptr());
            }
        }
        pg_sys::errsave_finish(context, c"bloom_ident".as_ptr(), 0, c"input".as_ptr());
    }
}

/// Before PostgreSQL 16 nobody collects errors.
#[cfg(feature = "pg15")]
pub fn save_or_raise(_: pg_sys::FunctionCallInfo, error: &Error) {
    raise(error);
}
