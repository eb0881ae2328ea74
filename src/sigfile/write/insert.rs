//! Adding a row: it goes to the end of the tail, and when that has become long, a part of it is sealed.

use bloom_ident_core::sigfile::{RowPage, RowPageMut};
use bloom_ident_core::ErrorKind;
use pgrx::pg_sys;

use super::{check_shape, maintain, tail_rows, IndexRow, MergeLock};
use crate::pg::entry;
use crate::pg::error::{raise, warn, OrRaise};
use crate::sigfile::meta::{Meta, Part};
use crate::sigfile::page::{self, PageKind, SigfileIndex, META};

/// Adds the row. True if it has begun a new page.
fn add(index: SigfileIndex, heap: pg_sys::Relation, thresholds: bool, new: &IndexRow) -> bool {
    let part = new.part();
    loop {
        let meta = Meta::read(index);
        if meta.thresholds != thresholds {
            let what = "the kind of rows is not that of the operator class";
            raise(&index.damaged(META, what));
        }
        check_shape(index, meta.shape, new);
        if part == Part::Nulls || meta.shape != 0 {
            let geometry = meta.geometry(part);
            if let Some(&last) = meta.tails[part as usize].last() {
                let buffer = index.exclusive(last);
                // sealed meanwhile, it would be closed or full; used for something else, of another kind
                let has_room = |page: RowPage<'_>| !page.is_full();
                let page = RowPage::growing(geometry, buffer.words());
                if buffer.is(PageKind::Tail, 0)
                    && page
                        .map(has_room)
                        .map_err(|e| index.locate(e.on_page(0), &[last]))
                        .or_raise()
                {
                    page::change(index, [&buffer], |[words]| {
                        RowPageMut::new(geometry, words).push(new.row());
                    });
                    return false;
                }
            }
        }
        if lengthen(index, heap, &meta, new) {
            return true;
        }
    }
}

/// Adds a page with the row to the tail, unless somebody else has added one since `seen` was
/// read: then false.
fn lengthen(index: SigfileIndex, heap: pg_sys::Relation, seen: &Meta, new: &IndexRow) -> bool {
    let part = new.part();
    let tail = part as usize;
    let buffer = index.exclusive(META);
    let mut meta = Meta::decode(index, &buffer);
    if meta.tails[tail].last() != seen.tails[tail].last() || meta.shape != seen.shape {
        return false;
    }
    if meta.tails[tail].len() == part.most_pages() {
        drop(buffer);
        // sealing has been held up by a long VACUUM: wait for it
        maintain(&MergeLock::wait(index, heap), part).or_raise();
        return false;
    }
    if part == Part::Signatures && meta.shape == 0 {
        meta.shape = new.shape;
    }
    let geometry = meta.geometry(part);
    let page = index.extended();
    meta.tails[tail].push(page.block());
    page::change_and_start(index, &buffer, &page, PageKind::Tail, |words, content| {
        meta.encode(words);
        RowPageMut::new(geometry, content).push(new.row());
    });
    true
}

#[entry]
#[allow(clippy::too_many_arguments)] // the server's interface
pub unsafe extern "C-unwind" fn aminsert(
    index: pg_sys::Relation,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    tid: pg_sys::ItemPointer,
    heap: pg_sys::Relation,
    _check: pg_sys::IndexUniqueCheck::Type,
    _unchanged: bool,
    _info: *mut pg_sys::IndexInfo,
) -> bool {
    // SAFETY: called by the server with one value and open relations.
    unsafe {
        let index = SigfileIndex::new(index);
        let thresholds = crate::sigfile::class::has_thresholds(index);
        let new = IndexRow::of(thresholds, *values, *nulls, tid);
        if add(index, heap, thresholds, &new) {
            let part = new.part();
            let meta = Meta::read(index);
            let geometry = meta.geometry(part);
            let limit = crate::sigfile::class::options::SigfileOptions::of(index)
                .tail_limit(geometry.stride);
            let pages = meta.tails[part as usize].len();
            if tail_rows(&meta, part) >= u64::from(limit) || 2 * pages > part.most_pages() {
                if let Some(lock) = MergeLock::now(index, heap) {
                    // The row is there, and all that it needs: what is wrong elsewhere fails who reads it. Without room in the tail
                    // the next row fails.
                    match maintain(&lock, part) {
                        Err(e) if e.kind() == ErrorKind::Corrupted => warn(&e),
                        done => done.or_raise(),
                    }
                }
            }
        }
    }
    // no uniqueness to report on
    false
}
