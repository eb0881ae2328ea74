//! What all types have in common that are a varlena of checked bytes.

use std::ffi::{CStr, CString};

use base::{Error, Result};
use pgrx::{pg_sys, Internal, PgSqlErrorCode};
use signature::filter::query::THRESHOLD;
use signature::filter::{newer_version, KEYED, VERSION};

use crate::array::Elements;
use pg::error::{raise, save_or_raise, sql_error, OrRaise};
use pg::values::varlena::build;

/// A type as argument of a function and as its result. `$view` is the core's view of its bytes.
macro_rules! value_type {
    ($argument:ident, $result:ident, $view:ident, $name:literal) => {
        #[doc = concat!("An argument of type `", $name, "`.")]
        pub struct $argument<'a>(pg::values::varlena::Varlena<'a>);

        pg::values::argument!($argument, $name);

        impl<'a> $argument<'a> {
            /// # Safety
            /// `datum` is a non-null value of the type that lives as long as `'a`.
            #[inline]
            pub unsafe fn from_raw(datum: pgrx::pg_sys::Datum) -> Self {
                // SAFETY: a value of the type is a varlena.
                let value = $argument(unsafe { pg::values::varlena::Varlena::new(datum) });
                if $view::stored(value.0.bytes()).is_none() {
                    $crate::value::corrupt($name, value.0.bytes());
                }
                value
            }

            #[inline]
            pub fn view(&self) -> $view<'_> {
                $view::stored(self.0.bytes()).expect("from_raw has checked the bytes")
            }

            /// The value with its header, as long as this lives.
            pub fn pointer(&self) -> *mut pgrx::pg_sys::varlena {
                self.0.pointer()
            }

            /// The same value as a result.
            pub fn into_result(self) -> $result {
                $result(self.0.keep())
            }
        }

        impl pgrx::FromDatum for $argument<'_> {
            #[inline]
            unsafe fn from_polymorphic_datum(
                datum: pgrx::pg_sys::Datum,
                is_null: bool,
                _: pgrx::pg_sys::Oid,
            ) -> Option<Self> {
                // SAFETY: the argument is declared as this type, and is not null.
                (!is_null).then(|| unsafe { $argument::from_raw(datum) })
            }
        }

        #[doc = concat!("A result of type `", $name, "`, in the memory of the current context.")]
        pub struct $result(*mut pgrx::pg_sys::varlena);

        pg::values::stands_for!($result, $name);

        impl $result {
            /// Bytes from outside, checked.
            pub fn from_untrusted(bytes: &[u8]) -> base::Result<$result> {
                $view::untrusted(bytes)?;
                pg::values::varlena::build(bytes.len(), |to| {
                    to.copy_from_slice(bytes);
                    Ok(())
                })
                .map($result)
            }

            /// The value for the server.
            pub fn datum(self) -> pgrx::pg_sys::Datum {
                pgrx::pg_sys::Datum::from(self.0)
            }
        }

        // SAFETY: the pointer is a whole varlena in a memory context of the server.
        unsafe impl pgrx::callconv::BoxRet for $result {
            unsafe fn box_into<'fcx>(
                self,
                fcinfo: &mut pgrx::callconv::FcInfo<'fcx>,
            ) -> pgrx::datum::Datum<'fcx> {
                // SAFETY: the pointer is a whole varlena of this type.
                unsafe { fcinfo.return_raw_datum(self.datum()) }
            }
        }
    };
}
pub(crate) use value_type;

/// A query: the bytes of a value, and the threshold that it is searched with.
pub fn build_query(value: &[u8], threshold: f64) -> *mut pg_sys::varlena {
    let query = build(value.len() + THRESHOLD, |to| {
        let (start, end) = to.split_at_mut(value.len());
        start.copy_from_slice(value);
        end.copy_from_slice(&threshold.to_le_bytes());
        Ok(())
    });
    query.or_raise()
}

/// Fails over stored bytes that are no value of type `of`. No input path of this version stores such bytes: a newer
/// version has stored them, or the page that they came from is damaged.
#[cold]
pub fn corrupt(of: &str, bytes: &[u8]) -> ! {
    let newest = match of.starts_with("bloom") {
        true => KEYED,
        false => VERSION,
    };
    if let Some(version) = newer_version(newest, bytes) {
        let what = format!("cannot read a value of type {of} in format version {version}");
        raise(
            &Error::newer_format(what, newest)
                .hint("Install the version of bloom_ident that was used before."),
        );
    }
    raise(
        &sql_error(
            PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
            format!("invalid stored value of type {of}"),
        )
        .detail(format!(
            "It has {} bytes and begins with {:?}.",
            bytes.len(),
            &bytes[..bytes.len().min(8)]
        )),
    )
}

/// What a receive function gets: the rest of the message is the value.
pub fn message_bytes<'a>(mut message: Internal) -> &'a [u8] {
    // SAFETY: the server passes a StringInfo that outlives the call.
    unsafe {
        let buffer: &mut pg_sys::StringInfoData =
            message.get_mut().expect("receive functions get a buffer");
        let n = buffer.len - buffer.cursor;
        let start = pg_sys::pq_getmsgbytes(buffer, n);
        std::slice::from_raw_parts(start.cast::<u8>(), n as usize)
    }
}

/// What an input function gives: `make` of a text. `None` where the caller collects the error.
///
/// Errors: those of `make`, where the caller does not.
pub fn input<T>(
    text: &CStr,
    fcinfo: pg_sys::FunctionCallInfo,
    make: impl FnOnce(&str) -> Result<T>,
) -> Option<T> {
    // what is right is ASCII; what is not needs no conversion, which could fail in its own way
    make(&text.to_string_lossy())
        .map_err(|e| save_or_raise(fcinfo, &e))
        .ok()
}

/// What an output function gives: the text that `write` writes, of some `size` bytes.
///
/// Errors: out of memory.
pub fn output(size: usize, write: impl FnOnce(&mut String)) -> CString {
    let mut text = String::new();
    text.try_reserve(size)
        .map_err(|_| Error::out_of_memory(size))
        .or_raise();
    write(&mut text);
    CString::new(text).expect("no zero byte")
}

/// What a function gets that reads a type modifier.
///
/// # Safety
/// `fcinfo` is that of a call with one argument, a `cstring[]` that is not NULL.
pub unsafe fn modifier(fcinfo: pg_sys::FunctionCallInfo) -> Vec<String> {
    // SAFETY: the call has that argument.
    unsafe { Elements::new((*fcinfo).args.as_slice(1)[0].value) }
        .or_raise()
        .c_strings()
}
