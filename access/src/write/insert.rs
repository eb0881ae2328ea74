//! Adding a row: it goes to the end of the tail, and the session does a little of the merges that keep the tail short.

use std::cell::Cell;

use pgrx::pg_sys;
use sigfile::{Geometry, Meta, Part, RowPage, RowPageMut};

use super::{check_shape, maintain, seal, tail_rows, IndexRow, MergeLock};
use crate::class::leading::leading_columns;
use crate::class::options::SigfileOptions;
use crate::class::{has_thresholds, SignatureType};
use crate::meta;
use crate::page::{ExclusiveLock, PageGuard, PageKind, SigfileIndex, SigfileTable, META};
use crate::read::is_used;
use pg::entry;
use pg::error::{raise, OrRaise};

/// Rows of a page after which the session looks what is due of the merges.
const EVERY: u64 = 16;

/// Rows of a statement from which on it is taken to enter many more, in tails.
const BULK: u64 = 2;

pg::session_state! {
    static INSERTIONS: Cell<u64> = Cell::default();
    "rows put into indexes" by "all indexes" until "the session ends";

    /// The statement that entered the last row (transaction, command), and how many it has entered, into all indexes.
    static LAST: Cell<((u32, u32), u64)> = Cell::default();
    "rows of a statement" by "transaction and command" until "another statement enters a row";
}

/// How many rows this session has put into indexes of sigfile, those included that were rolled back.
pub fn insertions() -> u64 {
    INSERTIONS.get()
}

/// Adds the row. Returns the number of rows on its page.
///
/// Errors: a signature of another shape; a damaged page.
fn add(index: SigfileIndex<'_>, table: SigfileTable<'_>, thresholds: bool, new: &IndexRow) -> u64 {
    let part = new.part();
    loop {
        let meta = meta::read(index);
        if meta.thresholds() != thresholds || meta.keys() != (leading_columns(index) > 0) {
            let what = "the kind of rows is not that of the operator classes";
            raise(&index.damaged(META, what));
        }
        check_shape(index, meta.shape(), new);
        if part == Part::Nulls || meta.shape() != 0 {
            let geometry = meta.geometry(part);
            if let Some(last) = meta.tail_blocks(part).last() {
                let mut page = index.exclusive(last.block);
                // If it was sealed meanwhile it is closed or full; if it was used again it is of another kind or
                // generation.
                let same = page.is(PageKind::Tail, last.generation) || page.is(PageKind::Tail, 0);
                if same && has_room(&page, geometry) {
                    let rows = page.words()[0];
                    page.change(|words| {
                        RowPageMut::new(geometry, words).push(new.row());
                    });
                    return rows + 1;
                }
            }
        }
        if lengthen(index, table, &meta, new) {
            return 1;
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
/// The page is one of those in stock, which nobody can be reading any more, or a new one at the end of the index.
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
        // Merges have been held up for long: by an old version of the index, or by sessions that were stopped.
        seal(&MergeLock::wait(index, table), part).or_raise();
        return false;
    }
    if part == Part::Signatures && meta.shape() == 0 {
        meta.set_shape(new.shape).or_raise();
    }
    let geometry = meta.geometry(part);
    let page = match free_block(index, &mut meta) {
        Some(block) => index.reused(block),
        None => index.extended(),
    };
    let tail = meta.lengthen(part, page.block());
    metapage.change_and_start(page, (PageKind::Tail, tail.generation), |words, content| {
        meta.encode(words);
        RowPageMut::new(geometry, content).push(new.row());
    });
    true
}

/// Takes a block off the stock. What the stock lists though it is in use, or not there, is left out: it stays as it is.
fn free_block(index: SigfileIndex<'_>, meta: &mut Meta) -> Option<u32> {
    while let Some(block) = meta.stock.pop() {
        // The metapage is locked: it cannot be locked once more.
        if block != META && !is_used(index, meta, block).unwrap_or(true) {
            return Some(block);
        }
    }
    None
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
    // SAFETY: the server passes a value for each column, and relations that it keeps open.
    unsafe {
        let (index, table) = (SigfileIndex::new(index), SigfileTable::new(heap));
        let thresholds = has_thresholds(index);
        let kind = (SignatureType::of(index), thresholds);
        let new = IndexRow::of(index, kind, values, nulls, tid);
        let on_page = add(index, table, thresholds, &new);
        let entered = count_of_statement();
        if on_page == 1 || on_page.is_multiple_of(EVERY) {
            let part = new.part();
            let meta = meta::read(index);
            let limit = SigfileOptions::of(index).tail_limit(meta.geometry(part).stride);
            let limit = u64::from(limit);
            // Pages for the tail are taken from those that are free, too.
            let stock_is_empty = meta.stock.is_empty() && !meta.free.is_empty();
            if meta.merges > 0 || tail_rows(&meta, part) >= limit || stock_is_empty {
                if let Some(lock) = MergeLock::now(index, table) {
                    maintain(&lock, part, on_page, entered > BULK * limit).or_raise();
                }
            }
        }
    }
    // There is no uniqueness to report on.
    false
}

/// Counts a row for the running statement. Returns how many it has entered in a row.
fn count_of_statement() -> u64 {
    // SAFETY: a state of this process. No command is used up by asking.
    let statement = unsafe {
        (
            pg_sys::GetTopTransactionIdIfAny().into_inner(),
            pg_sys::GetCurrentCommandId(false),
        )
    };
    let (last, rows) = LAST.get();
    let rows = if last == statement { rows + 1 } else { 1 };
    LAST.set((statement, rows));
    rows
}
