//! Index keys as the core sees them, and the type that stores them.

use std::ffi::{CStr, CString};

use bloom_ident_core::gist::{unite, united_size, Key};
use bloom_ident_core::{Error, Kind, Result};
use pgrx::pg_sys;

use crate::pg::entry;
use crate::pg::error::OrRaise;
use crate::types::{build, corrupt, Varlena};

/// A key of an index tuple; the core's view borrows from it.
pub struct Stored(Varlena<'static>);

impl Stored {
    /// SAFETY: `datum` is a leaf or inner key of an index of ours and outlives the result.
    pub unsafe fn of(datum: pg_sys::Datum) -> Stored {
        // SAFETY: keys are varlenas.
        let stored = Stored(unsafe { Varlena::of(datum) });
        if Key::stored(stored.0.bytes()).is_none() {
            corrupt("bloom_gist_key", stored.0.bytes());
        }
        stored
    }

    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The key itself, plain.
    pub fn keep(self) -> pg_sys::Datum {
        pg_sys::Datum::from(self.0.keep())
    }

    pub fn key(&self) -> Key<'_> {
        Key::stored(self.0.bytes()).expect("checked on arrival")
    }
}

/// The inner key that stands for all of `keys`, in the memory of the current context.
pub fn inner<'a>(keys: impl Iterator<Item = Key<'a>> + Clone) -> pg_sys::Datum {
    let make = || -> Result<pg_sys::Datum> {
        let size = united_size(keys.clone())?;
        let key = build(size, |bytes| {
            unite(keys, bytes);
            Ok(())
        })?;
        Ok(pg_sys::Datum::from(key))
    };
    make().or_raise()
}

#[entry]
fn bloom_gist_key_in(_text: &CStr) -> CString {
    Err(Error::new(
        Kind::InvalidParameter,
        "cannot accept a value of type bloom_gist_key",
    ))
    .or_raise()
}

/// For tools that look into indexes.
#[entry]
fn bloom_gist_key_out(fcinfo: pg_sys::FunctionCallInfo) -> CString {
    // SAFETY: one argument of the type, STRICT.
    let stored = unsafe { Stored::of((*fcinfo).args.as_slice(1)[0].value) };
    CString::new(stored.key().describe()).expect("no zero byte")
}
