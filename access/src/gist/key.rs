//! Index keys as the core sees them, and the type that stores them.

use std::ffi::{CStr, CString};

use base::{Error, ErrorKind, Result};
use pgrx::pg_sys;
use sigfile::gist::{unite, united_size, TreeKey};
use signature::filter::{newer_version, VERSION};

use pg::entry;
use pg::error::{raise, OrRaise};
use pg::values::text::readable;
use pg::values::varlena::{build, NewValue, Varlena};
use types::corrupt;

/// A key of an index tuple; the core's view borrows from it.
pub struct IndexKey(Varlena<'static>);

impl IndexKey {
    /// # Safety
    /// `datum` is a leaf or inner key of an index of ours and outlives the result.
    pub unsafe fn of(datum: pg_sys::Datum) -> IndexKey {
        // SAFETY: keys are varlenas.
        let stored = IndexKey(unsafe { Varlena::of(datum) });
        if TreeKey::stored(stored.0.bytes()).is_none() {
            corrupt("bloom_gist_key", stored.0.bytes());
        }
        stored
    }

    /// The key of an entry, which may be on a page. Its lengths are checked before anything is read by them.
    ///
    /// # Safety
    /// GiST has passed `entry`, whose key outlives the result.
    pub unsafe fn of_entry(entry: *const pg_sys::GISTENTRY) -> IndexKey {
        // SAFETY: GiST has passed the entry, so that its key has a header; where it is not plain, its header says so.
        unsafe {
            let key = (*entry).key;
            if fits_page(key.cast_mut_ptr()) {
                let stored = IndexKey(Varlena::of(key));
                if TreeKey::stored(stored.0.bytes()).is_some() {
                    return stored;
                }
                if let Some(version) = newer_version(stored.0.bytes()) {
                    raise(&newer((*entry).rel, version));
                }
            }
            raise(&damaged((*entry).rel))
        }
    }

    /// The stored bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The key itself, plain.
    pub fn keep(self) -> pg_sys::Datum {
        pg_sys::Datum::from(self.0.keep())
    }

    /// The core's view of it.
    pub fn key(&self) -> TreeKey<'_> {
        TreeKey::stored(self.0.bytes()).expect("the bytes were checked when the key was read")
    }
}

/// A value of no more bytes than a page has, before and after it is decompressed, and not stored elsewhere.
///
/// # Safety
/// `value` has a header.
unsafe fn fits_page(value: *const pg_sys::varlena) -> bool {
    /// VARLENA_EXTSIZE_MASK
    const SIZE: u32 = (1 << 30) - 1;
    const PAGE: usize = pg_sys::BLCKSZ as usize;
    // SAFETY: the value has a header; eight bytes of a compressed value are its header.
    unsafe {
        if pgrx::varatt_is_1b(value) {
            return !pgrx::varatt_is_1b_e(value);
        }
        let within = (pg_sys::VARHDRSZ..=PAGE).contains(&pgrx::varsize_4b(value));
        let plain = pgrx::varatt_is_4b_u(value);
        let raw = || value.cast::<u32>().add(1).read_unaligned() & SIZE;
        within && (plain || raw() as usize <= PAGE)
    }
}

/// How messages call an index.
///
/// # Safety
/// `index` is open, or NULL.
unsafe fn name_of(index: pg_sys::Relation) -> String {
    if index.is_null() {
        return "index on signatures".to_owned();
    }
    // SAFETY: the relation is open.
    format!("index \"{}\"", unsafe { name_of_open(index) })
}

/// # Safety
/// `index` is open.
pub unsafe fn name_of_open(index: pg_sys::Relation) -> String {
    // SAFETY: the relation is open, so it has its row of pg_class.
    let name = unsafe { CStr::from_ptr((*(*index).rd_rel).relname.data.as_ptr()) };
    readable(name.to_bytes())
}

/// # Safety
/// `index` is open, or NULL.
#[cold]
pub unsafe fn damaged(index: pg_sys::Relation) -> Error {
    // SAFETY: as the caller has it.
    let name = unsafe { name_of(index) };
    Error::new(ErrorKind::Corrupted, format!("{name} is damaged"))
        .detail("A page has a key that cannot be.")
        .hint("Rebuild the index with REINDEX.")
}

/// A leaf key in a format that a newer version has stored.
///
/// # Safety
/// `index` is open, or NULL.
#[cold]
unsafe fn newer(index: pg_sys::Relation, version: u8) -> Error {
    // SAFETY: as the caller has it.
    let name = unsafe { name_of(index) };
    let what = format!("{name} has signatures in format version {version}");
    Error::newer_format(what, VERSION).hint(
        "Install the version of bloom_ident that was used before, or rebuild the index with REINDEX.",
    )
}

/// The inner key that stands for all of `keys`, in the memory of the current context.
pub fn inner<'a>(keys: impl Iterator<Item = TreeKey<'a>> + Clone) -> pg_sys::Datum {
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

/// `(cstring) RETURNS bloom_gist_key`
#[entry]
fn bloom_gist_key_in(_text: &CStr) -> NewValue {
    Err(Error::new(
        ErrorKind::InvalidParameter,
        "cannot accept a value of type bloom_gist_key",
    ))
    .or_raise()
}

/// `(bloom_gist_key) RETURNS cstring`
///
/// For tools that look into indexes.
#[entry]
fn bloom_gist_key_out(fcinfo: pg_sys::FunctionCallInfo) -> CString {
    // SAFETY: one argument of the type, STRICT.
    let stored = unsafe { IndexKey::of((*fcinfo).args.as_slice(1)[0].value) };
    CString::new(stored.key().describe()).expect("no zero byte")
}
