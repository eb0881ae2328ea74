//! Errors, warnings and notices with all their fields, in the database's encoding: what an [`Error`] becomes when it is
//! raised, and what the server has raised.

use std::ffi::{c_char, c_int, CStr, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};

use base::error::Text;
use base::{Error, ErrorKind};
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

pub use bloom_ident_macros::words;

use super::boundary::raised_if;
use super::ffi;
use crate::catalog;
use crate::error::raise;
use crate::sql::Sql;
use crate::values::text::in_message;

/// Encodes five characters as MAKE_SQLSTATE of elog.h does.
pub const fn sqlstate(code: &[u8; 5]) -> c_int {
    let (mut state, mut i) = (0, 0);
    while i < 5 {
        state |= ((code[i] - b'0') as c_int & 0x3f) << (6 * i);
        i += 1;
    }
    state
}

/// What a name in braces stands for in a message by [`words!`]: ASCII text of ours, or bytes in the database's encoding.
pub trait Words {
    fn add(&self, words: Sql) -> Sql;
}

impl<T: Words + ?Sized> Words for &T {
    fn add(&self, words: Sql) -> Sql {
        (**self).add(words)
    }
}

impl Words for str {
    fn add(&self, words: Sql) -> Sql {
        words.expression(self.as_bytes())
    }
}

impl Words for String {
    fn add(&self, words: Sql) -> Sql {
        words.expression(self.as_bytes())
    }
}

impl Words for CStr {
    fn add(&self, words: Sql) -> Sql {
        words.expression(self.to_bytes())
    }
}

impl Words for CString {
    fn add(&self, words: Sql) -> Sql {
        words.expression(self.to_bytes())
    }
}

impl Words for [u8] {
    fn add(&self, words: Sql) -> Sql {
        words.expression(self)
    }
}

impl Words for Vec<u8> {
    fn add(&self, words: Sql) -> Sql {
        words.expression(self)
    }
}

/// The name of a relation.
impl Words for pg_sys::Oid {
    fn add(&self, words: Sql) -> Sql {
        catalog::name(*self).add(words)
    }
}

/// Texts of an ErrorData, by their numbers in [`texts`].
const TEXTS: usize = 12;
const MESSAGE: usize = 0;
const DETAIL: usize = 1;
const DETAIL_LOG: usize = 2;
const HINT: usize = 3;
const SCHEMA: usize = 4;
const TABLE: usize = 5;
const CONSTRAINT: usize = 6;
const CONTEXT: usize = 9;

/// The fields that hold texts of their own.
fn texts(data: &mut pg_sys::ErrorData) -> [&mut *mut c_char; TEXTS] {
    [
        &mut data.message,
        &mut data.detail,
        &mut data.detail_log,
        &mut data.hint,
        &mut data.schema_name,
        &mut data.table_name,
        &mut data.constraint_name,
        &mut data.column_name,
        &mut data.datatype_name,
        &mut data.context,
        &mut data.backtrace,
        &mut data.internalquery,
    ]
}

/// The context of the statement that is being run, as the server would tell it in an error.
fn context() -> Vec<u8> {
    // SAFETY: the server makes a C string in the current memory context, or none.
    unsafe {
        let context = pg_sys::GetErrorContextStack();
        match context.is_null() {
            true => Vec::new(),
            false => CStr::from_ptr(context).to_bytes().to_vec(),
        }
    }
}

/// Runs statements of ours. That a row offends a constraint is raised as what `tell` makes of it, if it is these
/// statements and foreign keys' own that have brought it about; what comes from functions of users passes as it is.
pub fn translated<T>(run: impl FnOnce() -> T, tell: impl FnOnce(&Message) -> Error) -> T {
    let outer = context();
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(payload) => {
            let is_ours = |m: &Message| m.is_violation() && m.is_of_statements(&outer);
            raise(&tell(&raised_if(payload, is_ours)))
        }
    }
}

/// An error, a warning or a notice. Rust owns its memory, since it outlives the memory contexts that unwinding leaves.
pub struct Message {
    /// The fields other than texts, which are NULL here. Its pointers are to constants of the server or a library.
    data: pg_sys::ErrorData,
    texts: [Option<Vec<u8>>; TEXTS],
    caught: bool,
}

// SAFETY: its pointers are to constants, so another thread could read them; unwinding asks for a payload that is Send.
unsafe impl Send for Message {}

/// The number of the SQLSTATE of an error.
fn state(kind: ErrorKind) -> c_int {
    let code = match kind {
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
        ErrorKind::NewerFormat | ErrorKind::OlderFormat => {
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED
        }
        ErrorKind::OutOfMemory => PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
        ErrorKind::State(state) => return state,
    };
    code as c_int
}

impl From<&Error> for Message {
    #[cold]
    fn from(error: &Error) -> Message {
        let mut texts = [const { None }; TEXTS];
        for (i, text) in [MESSAGE, DETAIL, DETAIL_LOG, HINT]
            .into_iter()
            .zip(error.texts())
        {
            texts[i] = text.map(|text| match text {
                Text::Utf8(text) => in_message(text),
                Text::Stored(bytes) => bytes.clone(),
            });
        }
        for (i, name) in [SCHEMA, TABLE, CONSTRAINT]
            .into_iter()
            .zip(error.object_names().into_iter().flatten())
        {
            texts[i] = Some(name.clone());
        }
        Message {
            data: pg_sys::ErrorData {
                elevel: PgLogLevel::ERROR as c_int,
                sqlerrcode: state(error.kind()),
                ..Default::default()
            },
            texts,
            caught: false,
        }
    }
}

impl Message {
    /// Whether it says that a row offends a constraint, by an SQLSTATE of class 23.
    pub fn is_violation(&self) -> bool {
        self.data.sqlerrcode & 0xfff == sqlstate(b"23000")
            && self.texts[CONSTRAINT].is_some()
            // The server's own have none; a guard's, and those of users, say what to do.
            && self.texts[HINT].is_none()
    }

    /// Whether it says that a value is none of its type, by an SQLSTATE of class 22, or of a domain's constraint.
    pub fn is_of_value(&self) -> bool {
        let class = self.data.sqlerrcode & 0xfff;
        class == sqlstate(b"22000") || self.data.sqlerrcode == sqlstate(b"23514")
    }

    /// Whether nothing but statements that name operators with their schema stands between an outer context and it:
    /// such are ours, and those of foreign keys.
    fn is_of_statements(&self, outer: &[u8]) -> bool {
        let context = self.texts[CONTEXT].as_deref().unwrap_or_default();
        let inner = context.strip_suffix(outer).unwrap_or(context);
        let qualified = b"OPERATOR(pg_catalog.";
        let mut lines = inner.split(|&b| b == b'\n').filter(|line| !line.is_empty());
        lines.all(|line| line.windows(qualified.len()).any(|w| w == qualified))
    }

    /// The table and the constraint that it is about.
    pub fn constraint(&self) -> [&[u8]; 2] {
        [TABLE, CONSTRAINT].map(|i| self.texts[i].as_deref().unwrap_or_default())
    }

    /// Its SQLSTATE.
    pub fn code(&self) -> c_int {
        self.data.sqlerrcode
    }

    /// Message and detail.
    pub fn said(&self) -> [&[u8]; 2] {
        [MESSAGE, DETAIL].map(|i| self.texts[i].as_deref().unwrap_or_default())
    }

    /// A copy of what the server has raised.
    ///
    /// # Safety
    /// `data` is complete: its texts are NULL or end with a zero byte.
    #[cold]
    pub unsafe fn caught(data: &pg_sys::ErrorData) -> Box<Message> {
        let mut data = *data;
        data.assoc_context = std::ptr::null_mut();
        let copies = texts(&mut data).map(|text| {
            let text = std::mem::replace(text, std::ptr::null_mut());
            // SAFETY: the texts of a complete error end with a zero byte.
            (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes().to_vec())
        });
        Box::new(Message {
            data,
            texts: copies,
            caught: true,
        })
    }

    /// The server has raised it, so its context is complete.
    pub fn is_caught(&self) -> bool {
        self.caught
    }

    /// Sends it as a warning or a notice.
    pub fn send(&self, level: PgLogLevel) {
        assert!(level < PgLogLevel::ERROR, "errors are raised");
        let data = self.data();
        if data.is_null() {
            return;
        }
        // SAFETY: the data is complete, and not an error.
        unsafe {
            (*data).elevel = level as c_int;
            ffi::ThrowErrorData(data);
        }
    }

    /// The server's form of it, in the current memory context; NULL if there is no memory for it. A text for which
    /// there is no memory is left out. No error is raised, since nobody is left to catch one.
    pub fn data(&self) -> *mut pg_sys::ErrorData {
        let room = |size: usize| {
            // SAFETY: with these flags the function raises no error for lack of memory, and zeroes what it gives.
            unsafe {
                let flags = pg_sys::MCXT_ALLOC_NO_OOM | pg_sys::MCXT_ALLOC_ZERO;
                pg_sys::palloc_extended(size, flags as c_int).cast::<c_char>()
            }
        };
        let mut data = self.data;
        for (field, text) in texts(&mut data).into_iter().zip(&self.texts) {
            let Some(text) = text else { continue };
            let copy = room(text.len() + 1);
            if !copy.is_null() {
                // SAFETY: the copy has room for the text and the zero byte behind it, which is there already.
                unsafe { copy.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
                *field = copy;
            }
        }
        let whole: *mut pg_sys::ErrorData = room(size_of::<pg_sys::ErrorData>()).cast();
        if !whole.is_null() {
            // SAFETY: the memory has room for one ErrorData, and is aligned as the server aligns all memory.
            unsafe { whole.write(data) };
        }
        whole
    }
}
