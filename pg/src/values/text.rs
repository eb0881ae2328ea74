//! The type `text` as argument. It is converted to UTF-8, if the database's encoding is another one.

use std::borrow::Cow;
use std::ffi::{CStr, CString};

use base::Error;
use pgrx::pg_sys::pg_enc::{PG_SQL_ASCII, PG_UTF8};
use pgrx::{pg_sys, FromDatum, PgSqlErrorCode};

use crate::error::{raise, sql_error};
use crate::values::varlena::Varlena;

/// A text argument.
pub struct Text<'a> {
    value: Varlena<'a>,
    converted: Option<Vec<u8>>,
}

crate::values::argument!(Text, "text");

impl<'a> Text<'a> {
    /// # Safety
    /// `datum` is a non-null `text` that lives as long as `'a`.
    pub unsafe fn from_raw(datum: pg_sys::Datum) -> Self {
        // SAFETY: a text is a varlena.
        let value = unsafe { Varlena::new(datum) };
        let converted = match to_utf8(value.bytes()) {
            Cow::Borrowed(_) => None,
            Cow::Owned(bytes) => Some(bytes),
        };
        let text = Text { value, converted };
        if std::str::from_utf8(text.bytes()).is_err() {
            raise(&sql_error(
                PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
                "text is not valid UTF-8",
            ));
        }
        text
    }

    fn bytes(&self) -> &[u8] {
        self.converted
            .as_deref()
            .unwrap_or_else(|| self.value.bytes())
    }

    /// In UTF-8.
    pub fn as_str(&self) -> &str {
        // SAFETY: `from_raw` has checked that the bytes are UTF-8.
        unsafe { std::str::from_utf8_unchecked(self.bytes()) }
    }
}

impl FromDatum for Text<'_> {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the argument is declared as text, and is not null.
        (!is_null).then(|| unsafe { Text::from_raw(datum) })
    }
}

/// Whether strings go to and from the server unchanged.
pub fn is_utf8_database() -> bool {
    // SAFETY: looks at a variable of the server.
    unsafe { pg_sys::GetDatabaseEncoding() == PG_UTF8 as i32 }
}

/// A text of the database's encoding as a string, with U+FFFD for bytes that are no text.
pub fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&known_utf8(bytes)).into_owned()
}

/// A text of the database's encoding in UTF-8, or as it is where the encoding does not say what its characters are.
pub fn known_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    // SAFETY: looks at a variable of the server.
    if unsafe { pg_sys::GetDatabaseEncoding() } == PG_SQL_ASCII as i32 {
        return Cow::Borrowed(bytes);
    }
    to_utf8(bytes)
}

/// A text of the database's encoding as a string; `None` if it is no valid one.
///
/// Errors: the database's encoding does not say what its characters are.
pub fn utf8(bytes: &[u8]) -> Option<String> {
    String::from_utf8(to_utf8(bytes).into_owned()).ok()
}

/// A string in the database's encoding.
///
/// Errors: the string has a character that the encoding does not have.
pub fn to_database(text: &str) -> Vec<u8> {
    // SAFETY: looks at a variable of the server.
    let encoding = unsafe { pg_sys::GetDatabaseEncoding() };
    if encoding == PG_UTF8 as i32 || encoding == PG_SQL_ASCII as i32 || text.is_ascii() {
        return text.as_bytes().to_vec();
    }
    // SAFETY: source and length are those of a slice; the result is a new C string.
    unsafe {
        let source: *mut u8 = text.as_ptr().cast_mut();
        let result =
            pg_sys::pg_do_encoding_conversion(source, text.len() as i32, PG_UTF8 as i32, encoding);
        let converted = CStr::from_ptr(result.cast()).to_bytes().to_vec();
        pg_sys::pfree(result.cast());
        converted
    }
}

/// A string as it is in a message: in the database's encoding, and a character that this does not have by its code
/// point. Where the encoding does not say what characters are, as it is.
///
/// Never fails, since errors are shown so.
pub fn in_message(text: &str) -> Vec<u8> {
    // SAFETY: looks at variables of the server.
    let (encoding, can_look_up) =
        unsafe { (pg_sys::GetDatabaseEncoding(), pg_sys::IsTransactionState()) };
    if encoding == PG_UTF8 as i32 || encoding == PG_SQL_ASCII as i32 || text.is_ascii() {
        return text.as_bytes().to_vec();
    }
    let mut conversion = pg_sys::InvalidOid;
    if can_look_up {
        // SAFETY: the transaction can read the catalogs.
        conversion = unsafe { pg_sys::FindDefaultConversionProc(PG_UTF8 as i32, encoding) };
    }
    let mut message = Vec::with_capacity(text.len());
    for c in text.chars() {
        let (mut utf8, mut converted) = ([0; 4], [0; 32]);
        let n = c.encode_utf8(&mut utf8).len() as i32;
        // SAFETY: the lengths are those of the arrays; the result ends with a zero byte.
        let known = c.is_ascii()
            || conversion != pg_sys::InvalidOid
                && unsafe {
                    let room = converted.len() as i32;
                    let (from, to) = (utf8.as_mut_ptr(), converted.as_mut_ptr());
                    pg_sys::pg_do_encoding_conversion_buf(
                        conversion,
                        PG_UTF8 as i32,
                        encoding,
                        from,
                        n,
                        to,
                        room,
                        true,
                    ) == n
                };
        match known {
            true if c.is_ascii() => message.push(c as u8),
            true => message.extend(converted.iter().take_while(|&&byte| byte != 0)),
            false => message.extend(format!("U+{:04X}", u32::from(c)).bytes()),
        }
    }
    message
}

/// A name in the database's encoding; `None` if it can be none.
pub fn server_name(name: &str) -> Option<CString> {
    CString::new(to_database(name)).ok()
}

/// Whether the database's encoding is UTF-8.
pub fn is_utf8() -> bool {
    // SAFETY: looks at a variable of the server.
    unsafe { pg_sys::GetDatabaseEncoding() == PG_UTF8 as i32 }
}

/// A text of the database's encoding in UTF-8: as it is, or converted by the server.
fn to_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    // looked at first, since a call of the server costs more
    if bytes.is_ascii() {
        return Cow::Borrowed(bytes);
    }
    // SAFETY: looks at a variable of the server.
    let encoding = unsafe { pg_sys::GetDatabaseEncoding() };
    if encoding == PG_UTF8 as i32 {
        return Cow::Borrowed(bytes);
    }
    if encoding == PG_SQL_ASCII as i32 {
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                "cannot normalise non-ASCII text in a database with encoding SQL_ASCII",
            )
            .detail("SQL_ASCII does not say which characters the bytes stand for.")
            .hint("Use a database with encoding UTF8."),
        );
    }
    // SAFETY: source and length are those of a slice; the result is a new C string, or the
    // source itself where nothing had to be converted (which the encodings above exclude).
    unsafe {
        let source: *mut u8 = bytes.as_ptr().cast_mut();
        let result =
            pg_sys::pg_do_encoding_conversion(source, bytes.len() as i32, encoding, PG_UTF8 as i32);
        if result == source {
            return Cow::Borrowed(bytes);
        }
        let converted = CStr::from_ptr(result.cast()).to_bytes();
        let mut owned = Vec::new();
        if owned.try_reserve_exact(converted.len()).is_err() {
            crate::error::raise(&Error::out_of_memory(converted.len()));
        }
        owned.extend_from_slice(converted);
        pg_sys::pfree(result.cast());
        Cow::Owned(owned)
    }
}
