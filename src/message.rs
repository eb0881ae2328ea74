//! Messages with fields and SQLSTATEs of their own, in the database's encoding.
//!
//! pgrx knows neither table and constraint nor states beyond PostgreSQL's, and takes all text for UTF-8, so these messages
//! go by the server's ThrowErrorData. An error must be thrown from a function that has nothing to drop, as
//! [`sql_function`] makes one.

use std::ffi::{c_int, CStr};

use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

pub type Result<T> = std::result::Result<T, Box<Message>>;

/// Encodes five characters as MAKE_SQLSTATE of elog.h does.
pub const fn sqlstate(code: &[u8; 5]) -> c_int {
    let (mut state, mut i) = (0, 0);
    while i < 5 {
        state |= ((code[i] - b'0') as c_int & 0x3f) << (6 * i);
        i += 1;
    }
    state
}

/// Something that can stand in a message: ASCII of ours, or bytes of the server's.
pub trait Words {
    fn bytes(&self) -> &[u8];
}

impl Words for str {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Words for String {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Words for CStr {
    fn bytes(&self) -> &[u8] {
        self.to_bytes()
    }
}

impl Words for std::ffi::CString {
    fn bytes(&self) -> &[u8] {
        self.to_bytes()
    }
}

impl Words for [u8] {
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl Words for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// Words, one after the other.
macro_rules! words {
    ($($part:expr),+ $(,)?) => {{
        let mut all: Vec<u8> = Vec::new();
        $(all.extend_from_slice($crate::message::Words::bytes(&*$part));)+
        all
    }};
}
pub(crate) use words;

/// What PostgreSQL calls an error report, or a warning or notice.
pub struct Message {
    code: c_int,
    message: Vec<u8>,
    detail: Option<Vec<u8>>,
    hint: Option<Vec<u8>>,
    /// Schema, table and constraint that it is about.
    about: Option<[Vec<u8>; 3]>,
}

impl Message {
    #[cold]
    pub fn new(code: c_int, message: Vec<u8>) -> Box<Message> {
        Box::new(Message {
            code,
            message,
            detail: None,
            hint: None,
            about: None,
        })
    }

    #[cold]
    pub fn of(code: PgSqlErrorCode, message: Vec<u8>) -> Box<Message> {
        Message::new(code as c_int, message)
    }

    pub fn detail(mut self: Box<Self>, detail: Vec<u8>) -> Box<Self> {
        self.detail = Some(detail);
        self
    }

    pub fn hint(mut self: Box<Self>, hint: Vec<u8>) -> Box<Self> {
        self.hint = Some(hint);
        self
    }

    pub fn about(
        mut self: Box<Self>,
        schema: Vec<u8>,
        table: Vec<u8>,
        constraint: Vec<u8>,
    ) -> Box<Self> {
        self.about = Some([schema, table, constraint]);
        self
    }

    /// Sends it as a warning or a notice.
    pub fn send(&self, level: PgLogLevel) {
        assert!(level < PgLogLevel::ERROR, "errors are thrown");
        // SAFETY: the data is complete, and not an error.
        unsafe { pg_sys::ThrowErrorData(self.data(level)) }
    }

    /// For [`throw`].
    pub fn error(&self) -> *mut pg_sys::ErrorData {
        self.data(PgLogLevel::ERROR)
    }

    /// In the memory of the current context.
    fn data(&self, level: PgLogLevel) -> *mut pg_sys::ErrorData {
        // SAFETY: a copy with an end, of the length of the slice.
        let string =
            |s: &[u8]| unsafe { pg_sys::pnstrdup(s.as_ptr().cast(), s.len() as pg_sys::Size) };
        let optional = |s: &Option<Vec<u8>>| s.as_ref().map_or(std::ptr::null_mut(), |s| string(s));
        let mut data = pg_sys::ErrorData {
            elevel: level as c_int,
            sqlerrcode: self.code,
            message: string(&self.message),
            detail: optional(&self.detail),
            hint: optional(&self.hint),
            filename: c"bloom_ident".as_ptr(),
            ..Default::default()
        };
        if let Some([schema, table, constraint]) = &self.about {
            data.schema_name = string(schema);
            data.table_name = string(table);
            data.constraint_name = string(constraint);
        }
        // SAFETY: room for one, written at once.
        unsafe {
            let room: *mut pg_sys::ErrorData =
                pg_sys::palloc(size_of::<pg_sys::ErrorData>()).cast();
            room.write(data);
            room
        }
    }
}

/// Fails the statement. Not through pgrx, which would replace the state and leave out the fields.
///
/// SAFETY: called by the server's caller itself; neither the calling function nor any Rust function above it has
/// anything to drop or catches panics, since the error jumps over them.
pub unsafe fn throw(error: *mut pg_sys::ErrorData) -> ! {
    unsafe extern "C-unwind" {
        fn ThrowErrorData(data: *mut pg_sys::ErrorData);
    }
    // SAFETY: as promised by the caller; the data is that of Message::error().
    unsafe { ThrowErrorData(error) };
    unreachable!("an ERROR does not return")
}

/// An SQL function as the server calls it, under the names of `#[pg_extern]`'s wrappers, around
/// `unsafe fn(FunctionCallInfo) -> Result<Datum>`.
macro_rules! sql_function {
    ($wrapper:ident, $finfo:ident, $run:path) => {
        #[no_mangle]
        pub unsafe extern "C-unwind" fn $wrapper(
            fcinfo: pgrx::pg_sys::FunctionCallInfo,
        ) -> pgrx::pg_sys::Datum {
            #[pgrx::pg_guard]
            unsafe extern "C-unwind" fn guarded(
                fcinfo: pgrx::pg_sys::FunctionCallInfo,
                error: *mut *mut pgrx::pg_sys::ErrorData,
            ) -> pgrx::pg_sys::Datum {
                // SAFETY: passed on; `error` is the caller's.
                match unsafe { $run(fcinfo) } {
                    Ok(result) => result,
                    Err(message) => {
                        // SAFETY: as above.
                        unsafe { *error = message.error() };
                        pgrx::pg_sys::Datum::null()
                    }
                }
            }
            let mut error: *mut pgrx::pg_sys::ErrorData = std::ptr::null_mut();
            // SAFETY: `fcinfo` is that of this call. Nothing here has anything to drop.
            unsafe {
                let result = guarded(fcinfo, &raw mut error);
                if !error.is_null() {
                    $crate::message::throw(error);
                }
                result
            }
        }

        #[no_mangle]
        pub extern "C-unwind" fn $finfo() -> &'static pgrx::pg_sys::Pg_finfo_record {
            static VERSION: pgrx::pg_sys::Pg_finfo_record =
                pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
            &VERSION
        }
    };
}
pub(crate) use sql_function;
