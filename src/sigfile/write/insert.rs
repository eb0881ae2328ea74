//! Adding a row: it goes to the end of the tail, and when that has become long, a part of it is sealed.

use std::cell::Cell;

use bloom_ident_core::sigfile::{Geometry, Meta, Part, RowPage, RowPageMut};
use bloom_ident_core::ErrorKind;
use pgrx::pg_sys;

use super::{check_shape, maintain, tail_rows, IndexRow, MergeLock};
use crate::pg::entry;
use crate::pg::error::{raise, warn, OrRaise};
use crate::sigfile::class::has_thresholds;
use crate::sigfile::class::options::SigfileOptions;
use crate::sigfile::meta;
use crate::sigfile::page::{ExclusiveLock, PageGuard, PageKind, SigfileIndex, SigfileTable, META};

thread_local! {
    static INSERTIONS: Cell<u64> = const { Cell::new(0) };
}

/// How many rows this session has put into indexes of sigfile, those included that were rolled back.
pub fn insertions() -> u64 {
    INSERTIONS.get()
}

/// Adds the row. True if it has begun a new page.
///
/// Errors: a signature of another shape; a damaged page.
fn add(index: SigfileIndex<'_>, table: SigfileTable<'_>, thresholds: bool, new: &IndexRow) -> bool {
    let part = new.part();
    loop {
        let meta = meta::read(index);
        if meta.thresholds() != thresholds {
            let what = "the kind of rows is not that of the operator class";
            raise(&index.damaged(META, what));
        }
        check_shape(index, meta.shape(), new);
        if part == Part::Nulls || meta.shape() != 0 {
            let geometry = meta.geometry(part);
            if let Some(&last) = meta.tail(part).last() {
                let mut page = index.exclusive(last);
                // If it was sealed meanwhile it is closed or full; if it was used again it is of another kind, since no
                // tail page comes from a list of free blocks.
                if page.is(PageKind::Tail, 0) && has_room(&page, geometry) {
                    page.change(|words| {
                        RowPageMut::new(geometry, words).push(new.row());
                    });
                    return false;
                }
            }
        }
        if lengthen(index, table, &meta, new) {
            return true;
        }
    }
}

/// Whether another row fits on a tail page.
///
/// Errors: a damaged page.
fn has_room(page: &PageGuard<'_, ExclusiveLock>, geometry: Geometry) -> bool {
    let rows = RowPage::growing(geometry, page.words());
    let located = rows.map_err(|e| page.index().locate(e.on_page(0), &[page.block()]));
    !located.or_raise().is_full()
}

/// Adds a page with the row to the tail, unless somebody else has added one since `seen` was
/// read: then false.
///
/// The page is a new one at the end of the index. It never comes from a list of free blocks: see [`PageKind::Tail`].
fn lengthen(index: SigfileIndex<'_>, table: SigfileTable<'_>, seen: &Meta, new: &IndexRow) -> bool {
    let part = new.part();
    let tail = part as usize;
    let mut metapage = index.exclusive(META);
    let mut meta = meta::of_page(&metapage);
    if meta.tails[tail].last() != seen.tails[tail].last() || meta.shape() != seen.shape() {
        return false;
    }
    if meta.tails[tail].len() == meta.most_pages(part) {
        drop(metapage);
        // Sealing has been held up by a long VACUUM: wait for it.
        maintain(&MergeLock::wait(index, table), part).or_raise();
        return false;
    }
    if part == Part::Signatures && meta.shape() == 0 {
        meta.set_shape(new.shape).or_raise();
    }
    let geometry = meta.geometry(part);
    let page = index.extended();
    meta.tails[tail].push(page.block());
    metapage.change_and_start(page, PageKind::Tail, |words, content| {
        meta.encode(words);
        RowPageMut::new(geometry, content).push(new.row());
    });
    true
}

/// Adds a row.
///
/// Errors: a signature of another shape; a damaged page.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
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
    INSERTIONS.set(INSERTIONS.get() + 1);
    // SAFETY: the server passes one value, and relations that it keeps open.
    unsafe {
        let (index, table) = (SigfileIndex::new(index), SigfileTable::new(heap));
        let thresholds = has_thresholds(index);
        let new = IndexRow::of(thresholds, *values, *nulls, tid);
        if add(index, table, thresholds, &new) {
            let part = new.part();
            let meta = meta::read(index);
            let geometry = meta.geometry(part);
            let limit = SigfileOptions::of(index).tail_limit(geometry.stride);
            let pages = meta.tail(part).len();
            if tail_rows(&meta, part) >= u64::from(limit) || 2 * pages > meta.most_pages(part) {
                if let Some(lock) = MergeLock::now(index, table) {
                    // The row is there, and all that it needs. What is damaged elsewhere fails those who read it; if there
                    // is no room in the tail, the next row fails.
                    match maintain(&lock, part) {
                        Err(e) if e.kind() == ErrorKind::Corrupted => warn(&e),
                        done => done.or_raise(),
                    }
                }
            }
        }
    }
    // There is no uniqueness to report on.
    false
}
