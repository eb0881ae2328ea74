//! Adding a row: it goes to the end of the tail, and the session does a little of the merges that keep the tail short.
//! When a tail is sealed and merged is in `maintain`.

use super::{maintain, seal, tail_rows, MergeLock};
use crate::class::leading::leading_columns;
use crate::class::options::SigfileOptions;
use crate::class::{edits_in_index, has_thresholds, leading, mismatch, SignatureType};
use crate::meta;
use crate::page::{self, ExclusiveLock, PageGuard, PageKind, SigfileIndex, SigfileTable, META};
use crate::read::is_used;
use pg::entry;
use pg::error::{raise, OrRaise};
use pg::tid::Tid;
use pgrx::pg_sys;
use sigfile::{Geometry, Meta, Part, RowPage, RowPageMut, RowShape, SignatureRow};
use std::cell::Cell;

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
    let page = index.page_for(free_block(index, &mut meta));
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
        let kind = (SignatureType::new(index), thresholds);
        let new = IndexRow::new(index, kind, values, nulls, tid);
        let on_page = add(index, table, thresholds, &new);
        let entered = count_of_statement();
        if on_page == 1 || on_page.is_multiple_of(EVERY) {
            let part = new.part();
            let meta = meta::read(index);
            let limit = SigfileOptions::new(index).tail_limit(meta.geometry(part).stride);
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

// A value to be indexed.

/// A value to be indexed.
pub struct IndexRow {
    /// The tag of the signature's shape, 0 for NULL.
    pub shape: u128,
    /// The bits.
    pub words: Vec<u64>,
    pub popcount: u32,
    /// As it is searched for; 0 where rows have none.
    pub threshold: f64,
    /// Hash of the columns before the signature, 0 without any.
    pub key: u32,
    pub tid: Tid,
}

impl IndexRow {
    /// The values of the index for a row, as the server passes them; `signatures` are of this type. `thresholds`: the
    /// last of them are queries.
    ///
    /// # Safety
    /// `values` and `nulls` are one for each column of the index, of the columns' types, and `tid` points to a tid.
    pub unsafe fn new(
        index: SigfileIndex<'_>,
        (signatures, thresholds): (SignatureType, bool),
        values: *const pg_sys::Datum,
        nulls: *const bool,
        tid: pg_sys::ItemPointer,
    ) -> IndexRow {
        // SAFETY: the caller passes a tid, and values of the types that the classes are for.
        unsafe {
            let tid = Tid::from(*tid);
            let key = leading::key(index, values, nulls);
            let last = leading::leading_columns(index);
            let (value, is_null) = (*values.add(last), *nulls.add(last));
            if is_null {
                let geometry = Geometry::new(page::PAGE_WORDS, 1, false, false).or_raise();
                return IndexRow {
                    shape: 0,
                    words: vec![0; geometry.stride],
                    popcount: geometry.null_popcount(),
                    threshold: 0.0,
                    key,
                    tid,
                };
            }
            let (signature, threshold) = match thresholds {
                true => {
                    let asked = signatures.query(value);
                    if asked.edits.is_some() {
                        raise(&edits_in_index());
                    }
                    (asked.signature, asked.threshold)
                }
                false => (signatures.signature(value), 0.0),
            };
            let measure = RowShape::of_tag(signature.tag).measure();
            IndexRow {
                shape: signature.tag,
                words: signature.words,
                popcount: signature.popcount,
                threshold: measure.asked(threshold),
                key,
                tid,
            }
        }
    }

    /// Which rows it belongs to.
    pub fn part(&self) -> Part {
        if self.shape == 0 {
            Part::Nulls
        } else {
            Part::Signatures
        }
    }

    /// The row as it stands on a page.
    pub fn row(&self) -> SignatureRow<'_> {
        SignatureRow {
            words: &self.words,
            popcount: self.popcount,
            threshold: self.threshold,
            key: self.key,
            tid: self.tid.stored(),
        }
    }
}

/// Compares the shape with that of the index, 0 if it has none yet.
///
/// Errors: a signature of another shape.
pub fn check_shape(index: SigfileIndex<'_>, expected: u128, row: &IndexRow) {
    if row.part() == Part::Signatures && expected != 0 && expected != row.shape {
        let column = RowShape::of_tag(expected).column_type();
        raise(&mismatch(row.shape, expected).hint(format!(
            "Use a column type such as {column} to keep other shapes out of the table. If index \"{}\" has deleted \
             rows only, run VACUUM.",
            index.name()
        )));
    }
}
