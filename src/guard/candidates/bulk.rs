//! Looking ahead: the rows that a statement has still to check are searched for together, and those without similar
//! rows are remembered.
//!
//! When an AFTER trigger fires, all rows of its statement are in the table, and their index entries too. So the search
//! for a row may as well be made some thousand rows earlier. It is no worse for other sessions: who enters a similar
//! row after the search finds this row's index entry, as it was there before. docs/decisions/guard.md has the whole
//! argument.
//!
//! [`super::ahead`] knows when it is worth while to look ahead; [`each_row`] reads the rows; [`search_ahead`] searches
//! for them, by signatures; [`EntryCheck`] says whether a row that the index gives may matter.

use std::cell::RefCell;

use base::memory::with_room;
use pgrx::pg_sys;
use sigfile::many::{ManySearch, WantedRows, MOST_ROWS};
use sigfile::{Meta, Pages, Part, RowPage};

use super::ahead::{self, AheadOutcome, Moment, RowAhead};
use super::index::SearchTarget;
use super::scan::SearchStart;
use super::RowTid;
use crate::guard::compare::by_signature::ComparedSignature;
use crate::guard::compare::within::WithinColumns;
use crate::guard::compare::ComparedTable;
use crate::guard::prepared::PreparedGuard;
use access::{read_meta_for, segment, SegmentReader, SigfileIndex, TailBlocks};
use pg::error::OrRaise;
use pg::memory::Scratch;
use pg::relation::{self, OpenRelation};
use pg::row::{header, FetchedRow};
use pg::snapshot::of_version;
use pg::tid::Tid;
use pg::{check_for_interrupts, ffi};

/// Whether it is known that nothing similar to this row was there when its index entry was. If not, the row is to be
/// searched for by itself. `checks_updates`: the trigger fires for every UPDATE.
///
/// # Safety
/// `table` is open, is that of `own`, and the trigger with this OID fires for it. The row is there, with its index
/// entry.
pub unsafe fn is_clear(
    guard: &PreparedGuard,
    (trigger, checks_updates): (pg_sys::Oid, bool),
    table: pg_sys::Relation,
    own: RowTid,
) -> bool {
    if guard.targets.iter().any(|t| t.bulk_index.is_none()) {
        return false;
    }
    let moment = Moment::now(guard, checks_updates);
    let size = match ahead::ask(trigger, moment, own.tid) {
        AheadOutcome::Known(is_clear) => return is_clear,
        AheadOutcome::LookAhead(size) => size,
    };
    // SAFETY: the table is open.
    if !unsafe { relation::is_heap(table) } {
        return false;
    }
    // SAFETY: the table is open, and that of the row.
    let found = unsafe { search_ahead(guard, size, table, own) };
    ahead::remember(trigger, moment, found);
    matches!(
        ahead::ask(trigger, moment, own.tid),
        AheadOutcome::Known(true)
    )
}

/// A batch is worth while with one row for so many rows that are read.
const ROWS_FOR_ONE: u64 = 400;

/// The least number of rows that are searched for together.
const LEAST_ROWS: usize = 64;

/// Searches all targets for the row at `own` and rows of the same transaction behind it, about `size` in all. Returns
/// what is known of each, in the order of the tids. `None` if there are too few, too little memory, or nothing to
/// search.
///
/// Errors: a damaged index; out of memory.
///
/// # Safety
/// `table` is open, of heap, and the one that the guard's trigger fires for; `own` is a row of it.
unsafe fn search_ahead(
    guard: &PreparedGuard,
    size: usize,
    table: pg_sys::Relation,
    own: RowTid,
) -> Option<Vec<RowAhead>> {
    // SAFETY: it reads settings.
    let memory = unsafe { pg_sys::get_hash_memory_limit() };
    // What is searched is read after this.
    let start = SearchStart::now();
    let mut targets = Vec::new();
    for target in &guard.targets {
        let index = OpenRelation::index(target.bulk_index?, pg_sys::AccessShareLock).keep_lock();
        // SAFETY: it is a sigfile index. There is no scan whose snapshot would be asked.
        let meta = unsafe { read_meta_for(SigfileIndex::of(&index), std::ptr::null_mut()) };
        if meta.shape() != 0 {
            targets.push(OpenTarget {
                target,
                index,
                meta,
            });
        }
    }
    let first = &targets.first()?.meta;
    let (shape, geometry) = (first.shape(), first.geometry(Part::Signatures));
    if targets.iter().any(|t| t.meta.shape() != shape) {
        return None;
    }
    let segments = targets
        .iter()
        .flat_map(|t| t.meta.segments_of(Part::Signatures));
    let rows = segments.map(|s| u64::from(s.rows)).sum::<u64>();
    let least = LEAST_ROWS.max((rows / ROWS_FOR_ONE) as usize);
    let row = WantedRows::bytes_of_row(geometry.stride) + size_of::<RowAhead>() + size_of::<u64>();
    let rest = memory.saturating_sub(size_of::<RowAhead>() * ahead::remembered());
    let of_memory = ManySearch::rows_for(geometry.stride, row, rest);
    let most = size.max(least).min(of_memory).min(MOST_ROWS);
    if most < least {
        return None;
    }
    let memory = rest.saturating_sub(most * row);
    let mut wanted = WantedRows::with_room(geometry.stride, most).or_raise();
    let mut rows: Vec<RowAhead> = with_room(most).or_raise();
    // What the rows have in the columns within which they are compared.
    let mut hashes: Vec<u64> = with_room(most).or_raise();
    let mut words = Vec::new();
    let mut add = |tid, signature: &ComparedSignature<'_>, hash| {
        let (row_shape, popcount) = signature.to_words(geometry.stride, &mut words);
        if row_shape == shape {
            wanted.push(&words, popcount);
            rows.push(RowAhead::new(tid));
            hashes.push(hash);
        }
        rows.len() < most
    };
    // SAFETY: the table is open, of heap, and that of the guard.
    unsafe { each_row(table, &guard.own, own.tid, most, &mut add) };
    if rows.len() < least {
        return None;
    }
    let threshold = guard.comparator.candidate_threshold(geometry.measure);
    let search = ManySearch::new(
        wanted,
        (geometry.bits, geometry.measure),
        geometry.measure.asked(threshold),
        geometry.capacity,
        memory,
    );
    let mut search = search.or_raise()?;
    for (number, row) in rows.iter_mut().enumerate() {
        row.set_clear(search.is_wanted(number));
    }
    for open in &targets {
        let check = EntryCheck::new(open.target, &start);
        let is_own_table = open.target.table.oid == own.table;
        open.pass_by(&mut search, &mut |number, tid| {
            let (row, tid) = (&mut rows[number], Tid::of_stored(tid));
            if !(is_own_table && row.tid() == tid) && check.may_matter(tid, hashes[number]) {
                row.set_clear(false);
            }
            row.is_clear()
        });
    }
    Some(rows)
}

/// A target with its index.
struct OpenTarget<'a> {
    target: &'a SearchTarget,
    index: OpenRelation,
    meta: Meta,
}

impl OpenTarget<'_> {
    /// Has the rows of the index with signatures pass by. No page is locked while `hit` runs, which returns whether to
    /// search for the row further.
    ///
    /// Errors: a damaged index; out of memory.
    fn pass_by(&self, search: &mut ManySearch, hit: &mut impl FnMut(usize, u64) -> bool) {
        let Some((least, greatest)) = search.within_reach() else {
            return;
        };
        // SAFETY: it is a sigfile index.
        let index = unsafe { SigfileIndex::of(&self.index) };
        let geometry = self.meta.geometry(Part::Signatures);
        let tail = TailBlocks::new(&self.meta, Part::Signatures);
        for page in tail.shared(index) {
            let page = page.or_raise();
            let rows = RowPage::growing(geometry, page.words());
            search.pass(&rows.map_err(|e| page.locate(e)).or_raise());
            page.release();
            sweep_if(search.is_full(), search, hit);
        }
        for entry in self.meta.segments_of(Part::Signatures) {
            // The rows of a segment are in the order of their popcounts, so those that are searched together have
            // nearly the same. Few rows of all popcounts are not worth a search of their own.
            sweep_if(search.is_half_full(), search, hit);
            let loaded = segment(index, &self.meta, entry).or_raise();
            let segment = &loaded.segment;
            let capacity = segment.geometry.capacity as u32;
            let rows = segment.range(least, greatest);
            let mut reader = SegmentReader::new(index, &loaded);
            for number in rows.start / capacity..rows.end.div_ceil(capacity) {
                let page = reader.rows(number).or_raise();
                let checked = segment.check_popcounts(number, &page, 0, page.len());
                let passed = checked.map(|()| search.pass(&page));
                passed.map_err(|e| reader.locate(e)).or_raise();
                reader.release();
                sweep_if(search.is_full(), search, hit);
            }
        }
        sweep_if(true, search, hit);
    }
}

/// Looks for interrupts in any case.
///
/// Errors: out of memory.
fn sweep_if(is_due: bool, search: &mut ManySearch, hit: &mut impl FnMut(usize, u64) -> bool) {
    check_for_interrupts();
    if is_due {
        search.sweep(&mut check_for_interrupts, hit).or_raise();
    }
}

/// Blocks without a row of this transaction, after which none is expected to follow.
const MAX_BLOCK_GAP: u32 = 16;

/// Calls `each` with tid, signature and hash of `within` of the row at `from`, and of rows behind it that the same
/// transaction has entered and that are still there; `each` says whether to go on. Rows that nothing is similar to are
/// left out: those whose signature is NULL or empty, and those with a NULL in `within`.
///
/// # Safety
/// `table` is an open heap table, and has these columns.
unsafe fn each_row(
    table: pg_sys::Relation,
    compared: &ComparedTable,
    from: Tid,
    most: usize,
    each: &mut dyn FnMut(Tid, &ComparedSignature<'_>, u64) -> bool,
) {
    let Some(of_type) = compared.signature.of_type else {
        return;
    };
    let last = from.block().saturating_add(4 * most as u32);
    let (mut min, mut max) = (from.pointer(), from.pointer());
    max.ip_blkid.bi_hi = (last >> 16) as u16;
    max.ip_blkid.bi_lo = last as u16;
    max.ip_posid = u16::MAX;
    let mut scratch = Scratch::new(c"bloom_ident rows ahead");
    // SAFETY: the table is open, and of heap. The slot is made for the table, and holds a tuple with its header.
    unsafe {
        let keys = std::ptr::null_mut();
        let (parallel, flags) = (
            std::ptr::null_mut(),
            pg_sys::ScanOptions::SO_TYPE_TIDRANGESCAN,
        );
        let scan = ffi::heap_beginscan(table, of_version(), 0, keys, parallel, flags);
        ffi::heap_set_tidrange(scan, &mut min, &mut max);
        let row = FetchedRow::none(table);
        let slot = row.slot;
        let forward = pg_sys::ScanDirection::ForwardScanDirection;
        let (mut own, mut near) = (None, from.block());
        while ffi::heap_getnextslot_tidrange(scan, forward, slot) {
            check_for_interrupts();
            let tid = Tid::from((*slot).tts_tid);
            if own.is_none() && tid != from {
                break;
            }
            let inserter = (*header(slot)).t_choice.t_heap.t_xmin;
            if inserter != *own.get_or_insert(inserter) {
                if tid.block() - near > MAX_BLOCK_GAP {
                    break;
                }
                continue;
            }
            near = tid.block();
            let goes_on = scratch.with(|| {
                let Some(value) = row.get(compared.signature.number) else {
                    return true;
                };
                let signature = ComparedSignature::new(of_type, value);
                signature.is_empty()
                    || compared
                        .within
                        .hash(&row)
                        .is_none_or(|hash| each(tid, &signature, hash))
            });
            if !goes_on {
                break;
            }
        }
        ffi::heap_endscan(scan);
    }
    scratch.delete();
}

/// Looks at rows of a table with a dirty snapshot.
struct EntryCheck<'a> {
    row: FetchedRow,
    table: OpenRelation,
    start: &'a SearchStart,
    within: &'a WithinColumns,
    /// What hashing the values of rows allocates.
    scratch: RefCell<Scratch>,
}

impl<'a> EntryCheck<'a> {
    /// The target's table is locked, and of heap. The search began at `start`.
    fn new(target: &'a SearchTarget, start: &'a SearchStart) -> EntryCheck<'a> {
        let table = OpenRelation::locked_table(target.table.oid);
        // SAFETY: the table is open as long as this.
        let row = unsafe { FetchedRow::none(table.pointer()) };
        EntryCheck {
            table,
            start,
            row,
            within: &target.table.within,
            scratch: RefCell::new(Scratch::new(c"bloom_ident values of rows")),
        }
    }

    /// Whether a search for a row with this hash of [`WithinColumns`] might count the row that an index entry leads to,
    /// or wait for it. If it is not certain that the row is gone for good, or not to be compared, the answer is yes.
    fn may_matter(&self, tid: Tid, hash: u64) -> bool {
        // SAFETY: the table is open.
        if !tid.is_possible() || !unsafe { tid.is_within(self.table.pointer()) } {
            return true;
        }
        let (table, mut at) = (self.table.pointer(), tid.pointer());
        let mut dirty = pg_sys::SnapshotData {
            snapshot_type: pg_sys::SnapshotType::SNAPSHOT_DIRTY,
            ..Default::default()
        };
        let mut is_dead = false;
        // SAFETY: the table is open, of heap, and has the block. The dirty snapshot is as InitDirtySnapshot() leaves
        // it, and SnapshotAny is a constant of the server's. The slot is made for the table, and holds the tuple with
        // its header.
        unsafe {
            if ffi::table_index_fetch_tuple_check(table, &mut at, &mut dirty, &mut is_dead) {
                return self.within.is_empty() || self.has_hash(tid, &mut dirty, hash);
            }
            // Dead to all transactions, so since before the search began.
            if is_dead {
                return false;
            }
            at = tid.pointer();
            let any = &raw mut pg_sys::SnapshotAnyData;
            if !ffi::table_tuple_fetch_row_version(table, &mut at, any, self.row.slot) {
                return true;
            }
            let flags = u32::from((*header(self.row.slot)).t_infomask2);
            // Later versions of a chain are not looked at.
            flags & pg_sys::HEAP_HOT_UPDATED != 0 || self.start.was_ended_since(self.row.slot)
        }
    }

    /// Whether a version of the row that the snapshot sees has this hash, or none is seen any more. A version that is
    /// written from now on, with other values than the one before, is itself checked later than this.
    ///
    /// # Safety
    /// The table is open, and has the block of the tid; the snapshot is a dirty one.
    unsafe fn has_hash(&self, tid: Tid, dirty: pg_sys::Snapshot, hash: u64) -> bool {
        let (mut at, mut more, mut any, mut same) = (tid.pointer(), false, false, false);
        // SAFETY: the table is open and has the block, and the slot is made for it. The fetch ends here.
        unsafe {
            let fetch = pg_sys::table_index_fetch_begin(self.table.pointer());
            let (slot, dead) = (self.row.slot, std::ptr::null_mut());
            while !same
                && ffi::table_index_fetch_tuple(fetch, &mut at, dirty, slot, &mut more, dead)
            {
                any = true;
                let here = || self.within.hash(&self.row);
                same = self.scratch.borrow_mut().with(here) == Some(hash);
                if !more {
                    break;
                }
            }
            pg_sys::table_index_fetch_end(fetch);
            pg_sys::ExecClearTuple(self.row.slot);
        }
        same || !any
    }
}
