//! How the tree grows: compress, union, penalty, picksplit, same, fetch.

use crate::class::edits_in_index;
use crate::stale;
use base::{Error, ErrorKind, Result};
use pg::error::{raise, OrRaise};
use pg::relation;
use pg::values::text::readable;
use pg::values::varlena::{build, NewValue, Varlena};
use pg::{catalog, check_for_interrupts, entry, ffi};
use pgrx::pg_sys;
use sigfile::gist::{inner_size, split, unite, united_size, TreeKey};
use sigfile::RowShape;
use signature::filter::{newer_version, QueryView, KEYED};
use std::ffi::{CStr, CString};
use types::corrupt;

/// The keys of an entry vector from position `first` on.
///
/// # Safety
/// `vector` is what GiST passes to union and picksplit.
unsafe fn entries(vector: *mut pg_sys::GistEntryVector, first: usize) -> Vec<IndexKey> {
    // SAFETY: GiST has passed the vector; at most a page full of entries.
    unsafe {
        (*vector).vector.as_slice((*vector).n as usize)[first..]
            .iter()
            .map(|entry| IndexKey::of_entry(entry))
            .collect()
    }
}

/// `(internal) RETURNS internal`
///
/// A leaf key is stored as it is, detoasted.
///
/// Errors: another shape than the index has.
#[entry]
fn bloom_gist_compress(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as compress function; a new entry lives as long as the current context.
    unsafe {
        let entry: *mut pg_sys::GISTENTRY = (*fcinfo).args.as_slice(1)[0].value.cast_mut_ptr();
        if (*entry).leafkey {
            let stored = IndexKey::new((*entry).key);
            inner_size(stored.key().shape()).or_raise();
            check_shape(fcinfo, entry, &stored.key());
            let plain = stored.keep();
            if plain != (*entry).key {
                let copy: *mut pg_sys::GISTENTRY =
                    pg_sys::palloc(size_of::<pg_sys::GISTENTRY>()).cast();
                *copy = *entry;
                (*copy).key = plain;
                return NewValue(pg_sys::Datum::from(copy));
            }
        }
        NewValue(pg_sys::Datum::from(entry))
    }
}

/// `(internal) RETURNS internal`
///
/// The leaf key is the signature.
#[entry]
fn bloom_gist_fetch(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as fetch function.
    NewValue(unsafe { (*fcinfo).args.as_slice(1)[0].value })
}

/// `(internal, internal) RETURNS bloom_gist_key`
#[entry]
fn bloom_gist_union(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as union function.
    unsafe {
        let args = (*fcinfo).args.as_slice(2);
        let keys = entries(args[0].value.cast_mut_ptr(), 0);
        let key = inner(keys.iter().map(IndexKey::key));
        *args[1].value.cast_mut_ptr::<i32>() = pgrx::varsize_any(key.cast_mut_ptr()) as i32;
        NewValue(key)
    }
}

/// `(internal, internal, internal) RETURNS internal`
#[entry]
fn bloom_gist_penalty(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as penalty function.
    unsafe {
        let args = (*fcinfo).args.as_slice(3);
        let key = |i: usize| {
            let entry: *const pg_sys::GISTENTRY = args[i].value.cast_mut_ptr();
            IndexKey::of_entry(entry)
        };
        *args[2].value.cast_mut_ptr::<f32>() = key(0).key().penalty(&key(1).key());
        NewValue(args[2].value)
    }
}

/// `(internal, internal) RETURNS internal`
///
/// The first argument is an entry vector, the second a split vector. Entries count from 1.
#[entry]
fn bloom_gist_picksplit(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as picksplit function; the split's lists are as long as GiST reads them.
    unsafe {
        let args = (*fcinfo).args.as_slice(2);
        let stored = entries(args[0].value.cast_mut_ptr(), 1);
        let keys: Vec<TreeKey<'_>> = stored.iter().map(IndexKey::key).collect();
        let right = split(&keys).or_raise();
        let side = |wanted: bool| {
            let chosen = (0..keys.len()).filter(|&i| right[i] == wanted);
            let offsets: *mut pg_sys::OffsetNumber =
                pg_sys::palloc(keys.len() * size_of::<pg_sys::OffsetNumber>()).cast();
            let mut n = 0;
            for i in chosen.clone() {
                *offsets.add(n) = i as pg_sys::OffsetNumber + 1;
                n += 1;
            }
            (offsets, n as i32, inner(chosen.map(|i| keys[i])))
        };
        let split: *mut pg_sys::GIST_SPLITVEC = args[1].value.cast_mut_ptr();
        ((*split).spl_left, (*split).spl_nleft, (*split).spl_ldatum) = side(false);
        ((*split).spl_right, (*split).spl_nright, (*split).spl_rdatum) = side(true);
        NewValue(args[1].value)
    }
}

/// `(bloom_gist_key, bloom_gist_key, internal) RETURNS internal`
#[entry]
fn bloom_gist_same(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as same function, on two keys.
    unsafe {
        let args = (*fcinfo).args.as_slice(3);
        let (a, b) = (IndexKey::new(args[0].value), IndexKey::new(args[1].value));
        *args[2].value.cast_mut_ptr::<bool>() = a.bytes() == b.bytes();
        NewValue(args[2].value)
    }
}

// Sorted build: neighbours in this order share a page.

/// Compares two leaf keys.
#[entry]
unsafe extern "C-unwind" fn compare(
    a: pg_sys::Datum,
    b: pg_sys::Datum,
    _sort: pg_sys::SortSupport,
) -> i32 {
    // SAFETY: the sort passes leaf keys.
    unsafe { IndexKey::new(a).key().order(&IndexKey::new(b).key()) as i32 }
}

/// `(internal) RETURNS void`
#[entry]
fn bloom_gist_sortsupport(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as sortsupport function.
    unsafe {
        let sort: pg_sys::SortSupport = (*fcinfo).args.as_slice(1)[0].value.cast_mut_ptr();
        (*sort).comparator = Some(compare);
    }
    NewValue(pg_sys::Datum::null())
}

// An index has signatures or sketches of one shape: a new row is compared with the root page.
//
// Two sessions that insert the first rows at once can get past this check, and so can two columns of a multi-column
// index that change places. So searches and splits must not fail on a key of another shape.

/// GIST_COMPRESS_PROC of access/gist.h.
const COMPRESS: u16 = 3;
const ROOT: u32 = 0;

/// Compares the shape of a new key with those that are in the index.
///
/// Errors: a leaf key of another shape.
///
/// # Safety
/// `fcinfo` is that of a call of compress, `entry` its argument, a leaf of `shape`.
unsafe fn check_shape(
    fcinfo: pg_sys::FunctionCallInfo,
    entry: *const pg_sys::GISTENTRY,
    key: &TreeKey,
) {
    // SAFETY: the call is one of compress, with this entry. No page is locked while a new row is compressed, and the
    // call's memory lives as long as the statement, or the build.
    unsafe {
        let (index, call) = ((*entry).rel, (*fcinfo).flinfo);
        let known = (*call).fn_extra.cast::<u128>();
        if !known.is_null() {
            let known = known.read_unaligned();
            if known != key.tag {
                refuse(index, key.tag, known);
            }
            return;
        }
        match first_of_root(index, (*call).fn_oid, key.tag) {
            Some(0) => return,
            Some(tag) if tag != key.tag => refuse(index, key.tag, tag),
            _ => (),
        }
        let known = pg_sys::MemoryContextAlloc((*call).fn_mcxt, size_of::<u128>());
        known.cast::<u128>().write_unaligned(key.tag);
        (*call).fn_extra = known;
    }
}

/// The shape of the keys on the root page: `tag` if it is among them, 0 if they say nothing; `None` if there are none.
///
/// # Safety
/// `index` is an open GiST index with a column whose compress function is `compress`; none of
/// its pages is locked.
unsafe fn first_of_root(index: pg_sys::Relation, compress: pg_sys::Oid, tag: u128) -> Option<u128> {
    // SAFETY: the index is open, and none of its pages is locked here; the page is locked while it is read.
    unsafe {
        // an index that is being built by sorting has no page yet
        if relation::blocks(index) == 0 {
            return None;
        }
        let columns = columns_by(index, |function| function == compress);
        let mut found = None;
        each_key(index, &columns, ROOT, |entry| {
            // SAFETY: the entry is one of the page, which stays locked meanwhile.
            found = Some(IndexKey::of_entry(entry).key().tag);
            found != Some(tag) && found != Some(0)
        });
        found
    }
}

/// The columns of an index whose compress function is one of those that are asked for.
///
/// # Safety
/// `index` is an open GiST index.
unsafe fn columns_by(index: pg_sys::Relation, is_wanted: impl Fn(pg_sys::Oid) -> bool) -> Vec<i16> {
    // SAFETY: the index is open, and has so many columns.
    unsafe {
        (1..=(*(*index).rd_index).indnkeyatts)
            .filter(|&column| is_wanted(pg_sys::index_getprocid(index, column, COMPRESS)))
            .collect()
    }
}

/// The keys of columns on a page, until `each` says that it has seen enough.
///
/// Errors: damage; those of `each`.
///
/// # Safety
/// `index` is an open GiST index, none of whose pages is locked; it has these columns, with keys of ours, and this block.
unsafe fn each_key(
    index: pg_sys::Relation,
    columns: &[i16],
    block: u32,
    mut each: impl FnMut(*const pg_sys::GISTENTRY) -> bool,
) {
    // SAFETY: the index is open, and none of its pages is locked here; the page is locked while it is read.
    unsafe {
        let buffer = ffi::ReadBuffer(index, block);
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
        let page = pg_sys::BufferGetPage(buffer);
        let items = match is_deleted(page) {
            true => 0,
            false => pg_sys::PageGetMaxOffsetNumber(page),
        };
        'page: for offset in 1..=items {
            let item = pg_sys::PageGetItemId(page, offset);
            let end = (*item).lp_off() as usize + (*item).lp_len() as usize;
            if end > pg_sys::BLCKSZ as usize
                || ((*item).lp_len() as usize) < size_of::<pg_sys::IndexTupleData>()
            {
                raise(&damaged(index));
            }
            let tuple: pg_sys::IndexTuple = pg_sys::PageGetItem(page, item).cast();
            for &column in columns {
                let Some(datum) = attribute(tuple, column, (*index).rd_att) else {
                    continue;
                };
                let mut entry = pg_sys::GISTENTRY::default();
                (entry.key, entry.rel) = (datum, index);
                if !each(&raw const entry) {
                    break 'page;
                }
            }
        }
        pg_sys::UnlockReleaseBuffer(buffer);
    }
}

/// Whether VACUUM has deleted a page of a GiST index: it then has the number of a transaction where its items were.
///
/// # Safety
/// `page` is one of a GiST index, whose buffer is locked.
unsafe fn is_deleted(page: pg_sys::Page) -> bool {
    // SAFETY: a page has its header; the end of it is on the page, as is checked before it is read.
    unsafe {
        let special = usize::from((*page.cast::<pg_sys::PageHeaderData>()).pd_special);
        let end = special + size_of::<pg_sys::GISTPageOpaqueData>();
        let opaque = page.cast::<u8>().wrapping_add(special).cast();
        let opaque: *const pg_sys::GISTPageOpaqueData = opaque;
        end <= pg_sys::BLCKSZ as usize
            && u32::from((&raw const (*opaque).flags).read_unaligned()) & pg_sys::F_DELETED != 0
    }
}

/// What is wrong with the format of an index, if a key is in one that this version does not read; `whole`: on any page, and not only on
/// the root. Damage is not looked for.
///
/// # Safety
/// `index` is an open GiST index, none of whose pages is locked.
pub unsafe fn format_error(index: pg_sys::Relation, whole: bool) -> Option<Error> {
    // SAFETY: the index is open; a column that is not ours has another compress function, or none.
    unsafe {
        let ours = columns_by(index, |function| {
            catalog::is_of_library(function, c"bloom_gist_compress_wrapper")
        });
        let blocks = if whole {
            relation::blocks(index)
        } else {
            relation::blocks(index).min(1)
        };
        for block in ROOT..blocks {
            check_for_interrupts();
            let mut found = None;
            each_key(index, &ours, block, |entry| {
                found = IndexKey::newer_version((*entry).key);
                found.is_none()
            });
            if let Some(version) = found {
                return Some(newer(index, version));
            }
        }
        None
    }
}

/// A column of an index tuple, `None` for NULL.
///
/// # Safety
/// `tuple` is one of an index described by `columns`, which has so many.
unsafe fn attribute(
    tuple: pg_sys::IndexTuple,
    column: i16,
    columns: pg_sys::TupleDesc,
) -> Option<pg_sys::Datum> {
    // SAFETY: the tuple is one of the index; a bitmap of NULLs follows the header where the header says so.
    unsafe {
        if (*tuple).t_info & pg_sys::INDEX_NULL_MASK as u16 != 0 {
            let bits = tuple.add(1).cast::<u8>();
            let bit = column as usize - 1;
            if *bits.add(bit / 8) & 1 << (bit % 8) == 0 {
                return None;
            }
        }
        Some(pg_sys::nocache_index_getattr(tuple, column.into(), columns))
    }
}

/// Fails over a new row of another shape.
///
/// # Safety
/// `index` is open.
#[cold]
unsafe fn refuse(index: pg_sys::Relation, new: u128, old: u128) -> ! {
    // SAFETY: the relation is open.
    let name = unsafe { name_of_open(index) };
    let shape = RowShape::of_tag(old);
    raise(&RowShape::mismatch(new, old).hint(format!(
        "Use a column type such as {} to keep other shapes out of the table. If all rows of shape {shape} are \
         deleted, run REINDEX INDEX on \"{name}\", or TRUNCATE the table.",
        shape.column_type(),
    )))
}

// Index keys as the core sees them, and the type that stores them.

/// A key of an index tuple; the core's view borrows from it.
pub struct IndexKey(Varlena<'static>);

impl IndexKey {
    /// # Safety
    /// `datum` is a leaf or inner key of an index of ours and outlives the result.
    pub unsafe fn new(datum: pg_sys::Datum) -> IndexKey {
        // SAFETY: keys are varlenas.
        let stored = IndexKey(unsafe { Varlena::new(datum) });
        if TreeKey::stored(stored.0.bytes()).is_none() {
            if QueryView::stored(stored.0.bytes()).is_some() {
                raise(&edits_in_index());
            }
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
                let stored = IndexKey(Varlena::new(key));
                if TreeKey::stored(stored.0.bytes()).is_some() {
                    return stored;
                }
            }
            if let Some(version) = IndexKey::newer_version(key) {
                raise(&newer((*entry).rel, version));
            }
            raise(&damaged((*entry).rel))
        }
    }

    /// The format version of a key, which may be on a page, that a newer version of the library has stored.
    ///
    /// # Safety
    /// As [`IndexKey::of_entry`].
    unsafe fn newer_version(key: pg_sys::Datum) -> Option<u8> {
        // SAFETY: a key has a header, by which its length is checked before more is read.
        unsafe {
            let fits = fits_page(key.cast_mut_ptr());
            fits.then(|| newer_version(KEYED, Varlena::new(key).bytes()))
                .flatten()
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
    let what = format!("has signatures in format version {version}");
    stale::error(&name, &Error::newer_format(what, KEYED))
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
    let stored = unsafe { IndexKey::new((*fcinfo).args.as_slice(1)[0].value) };
    CString::new(stored.key().describe()).expect("no zero byte")
}
