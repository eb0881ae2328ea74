//! An index has signatures or sketches of one shape: a new row is compared with the root page.
//!
//! Two sessions that insert the first rows at once can get past this check, and so can two columns of a multi-column
//! index that change places. So searches and splits must not fail on a key of another shape.

use pgrx::pg_sys;
use sigfile::gist::TreeKey;
use sigfile::RowShape;

use super::key::{damaged, IndexKey};
use pg::error::raise;
use pg::values::text::readable;

/// GIST_COMPRESS_PROC of access/gist.h.
const COMPRESS: u16 = 3;
const ROOT: u32 = 0;

/// Compares the shape of a new key with those that are in the index.
///
/// Errors: a leaf key of another shape.
///
/// # Safety
/// `fcinfo` is that of a call of compress, `entry` its argument, a leaf of `shape`.
pub unsafe fn check(
    fcinfo: pg_sys::FunctionCallInfo,
    entry: *const pg_sys::GISTENTRY,
    key: &TreeKey,
) {
    // SAFETY: the call is one of compress, with this entry. No page is locked while a new row is compressed, and the
    // call's memory lives as long as the statement, or the build.
    unsafe {
        let (index, call) = ((*entry).rel, (*fcinfo).flinfo);
        if let Some(&known) = (*call).fn_extra.cast::<u64>().as_ref() {
            if known != key.tag() {
                refuse(index, key.tag(), known);
            }
            return;
        }
        match first_of_root(index, (*call).fn_oid, key.tag()) {
            Some(0) => return,
            Some(tag) if tag != key.tag() => refuse(index, key.tag(), tag),
            _ => (),
        }
        let known = pg_sys::MemoryContextAlloc((*call).fn_mcxt, size_of::<u64>());
        known.cast::<u64>().write(key.tag());
        (*call).fn_extra = known;
    }
}

/// The shape of the keys on the root page: `tag` if it is among them, 0 if they say nothing; `None` if there are none.
///
/// # Safety
/// `index` is an open GiST index with a column whose compress function is `compress`; none of
/// its pages is locked.
unsafe fn first_of_root(index: pg_sys::Relation, compress: pg_sys::Oid, tag: u64) -> Option<u64> {
    // SAFETY: the index is open, and none of its pages is locked here; the page is locked while it is read.
    unsafe {
        // an index that is being built by sorting has no page yet
        if pg_sys::RelationGetNumberOfBlocksInFork(index, pg_sys::ForkNumber::MAIN_FORKNUM) == 0 {
            return None;
        }
        let columns: Vec<i16> = (1..=(*(*index).rd_index).indnkeyatts)
            .filter(|&column| pg_sys::index_getprocid(index, column, COMPRESS) == compress)
            .collect();
        let buffer = pg_sys::ReadBuffer(index, ROOT);
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
        let page = pg_sys::BufferGetPage(buffer);
        let mut found = None;
        'page: for offset in 1..=pg_sys::PageGetMaxOffsetNumber(page) {
            let item = pg_sys::PageGetItemId(page, offset);
            let end = (*item).lp_off() as usize + (*item).lp_len() as usize;
            if end > pg_sys::BLCKSZ as usize
                || ((*item).lp_len() as usize) < size_of::<pg_sys::IndexTupleData>()
            {
                raise(&damaged(index));
            }
            let tuple: pg_sys::IndexTuple = pg_sys::PageGetItem(page, item).cast();
            for &column in &columns {
                let Some(datum) = attribute(tuple, column, (*index).rd_att) else {
                    continue;
                };
                let mut entry = pg_sys::GISTENTRY::default();
                (entry.key, entry.rel) = (datum, index);
                let stored = IndexKey::of_entry(&raw const entry);
                found = Some(stored.key().tag());
                if found == Some(tag) || found == Some(0) {
                    break 'page;
                }
            }
        }
        pg_sys::UnlockReleaseBuffer(buffer);
        found
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
unsafe fn refuse(index: pg_sys::Relation, new: u64, old: u64) -> ! {
    // SAFETY: the relation is open.
    let name = unsafe { std::ffi::CStr::from_ptr((*(*index).rd_rel).relname.data.as_ptr()) };
    let shape = RowShape::of_tag(old);
    raise(&RowShape::mismatch(new, old).hint(format!(
        "Use a column type such as {} to keep other shapes out of the table. If all rows of shape {shape} are deleted, run REINDEX INDEX on \"{}\", or TRUNCATE the table.",
        shape.column_type(),
        readable(name.to_bytes())
    )))
}
