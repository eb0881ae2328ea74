//! Searching for many rows at once.

use base::Error;
use pgrx::pg_sys;
use sigfile::many::{ManySearch, WantedRows, MOST_ROWS};
use sigfile::{Meta, Pages, Part, RowPage};
use signature::similarity::Measure;

use super::entry_check::EntryCheck;
use super::memory::{remembered, RowAhead};
use super::rows::each_row;
use crate::guard::candidates::search_start::SearchStart;
use crate::guard::candidates::target::SearchTarget;
use crate::guard::candidates::RowTid;
use crate::guard::prepared::PreparedGuard;
use access::{read_meta_for, segment, SegmentReader, SigfileIndex, TailBlocks};
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::relation::OpenRelation;
use pg::tid::Tid;

/// A batch is worth while with one row for so many rows that are read.
const ROWS_FOR_ONE: u64 = 400;

/// The least number of rows that are searched for together.
const LEAST_ROWS: usize = 64;

/// A search of all targets of a guard for many rows, which has begun.
pub struct BatchSearch<'a> {
    guard: &'a PreparedGuard,
    start: SearchStart,
    targets: Vec<OpenTarget<'a>>,
    /// That of the signatures.
    shape: u64,
    /// Words and bits of a signature.
    stride: usize,
    bits: u32,
    measure: Measure,
    /// How many rows to search for, at least and at most.
    least: usize,
    most: usize,
    /// Bytes for the search, besides the rows.
    memory: usize,
    /// The most rows on a page of an index.
    page: usize,
}

/// A target with its index.
struct OpenTarget<'a> {
    target: &'a SearchTarget,
    index: OpenRelation,
    meta: Meta,
}

impl<'a> BatchSearch<'a> {
    /// Begins a search for about `size` rows. `None` if there is too little memory, or nothing to search.
    ///
    /// Errors: a damaged index.
    pub fn new(guard: &'a PreparedGuard, size: usize) -> Option<BatchSearch<'a>> {
        // SAFETY: it reads settings.
        let memory = unsafe { pg_sys::get_hash_memory_limit() };
        // What is searched is read after this.
        let start = SearchStart::now();
        let (mut targets, mut rows) = (Vec::new(), 0);
        for target in &guard.targets {
            let lock = pg_sys::AccessShareLock;
            let index = OpenRelation::index(target.index_for_many?, lock).keep_lock();
            // SAFETY: it is a sigfile index. There is no scan whose snapshot would be asked.
            let meta = unsafe { read_meta_for(SigfileIndex::of(&index), std::ptr::null_mut()) };
            if meta.shape() == 0 {
                continue;
            }
            let of_signatures = meta.segments_of(Part::Signatures);
            rows += of_signatures.map(|s| u64::from(s.rows)).sum::<u64>();
            targets.push(OpenTarget {
                target,
                index,
                meta,
            });
        }
        let first = &targets.first()?.meta;
        let (shape, geometry) = (first.shape(), first.geometry(Part::Signatures));
        if targets.iter().any(|t| t.meta.shape() != shape) {
            return None;
        }
        let least = LEAST_ROWS.max((rows / ROWS_FOR_ONE) as usize);
        let row =
            WantedRows::bytes_of_row(geometry.stride) + size_of::<RowAhead>() + size_of::<u64>();
        let rest = memory.saturating_sub(size_of::<RowAhead>() * remembered());
        let of_memory = ManySearch::rows_for(geometry.stride, row, rest);
        let most = size.max(least).min(of_memory).min(MOST_ROWS);
        let memory = rest.saturating_sub(most * row);
        (most >= least).then_some(BatchSearch {
            guard,
            start,
            targets,
            shape,
            stride: geometry.stride,
            bits: geometry.bits,
            measure: geometry.measure,
            least,
            most,
            memory,
            page: geometry.capacity,
        })
    }

    /// Searches for the row at `own` and rows of the same transaction behind it. Returns what is known of each, in the
    /// order of the tids. `None` if there are too few.
    ///
    /// Errors: a damaged index; out of memory.
    ///
    /// # Safety
    /// `table` is open, of heap, and the one that the guard's trigger fires for; `own` is a row of it.
    pub unsafe fn run(self, table: pg_sys::Relation, own: RowTid) -> Option<Vec<RowAhead>> {
        let mut wanted = WantedRows::with_room(self.stride, self.most).or_raise();
        let mut rows: Vec<RowAhead> = Vec::new();
        let failed = |_| Error::out_of_memory(self.most * size_of::<RowAhead>());
        rows.try_reserve_exact(self.most).map_err(failed).or_raise();
        // What the rows have in the columns within which they are compared.
        let mut hashes: Vec<u64> = Vec::new();
        hashes
            .try_reserve_exact(self.most)
            .map_err(failed)
            .or_raise();
        // SAFETY: the table is open, of heap, and the guard's column is a signature column of it.
        unsafe {
            let mut words = Vec::new();
            let columns = (self.guard.own.signature, &self.guard.own.within);
            each_row(
                table,
                columns,
                own.tid,
                self.most,
                &mut |tid, signature, hash| {
                    let (shape, popcount) = signature.to_words(self.stride, &mut words);
                    if shape == self.shape {
                        wanted.push(&words, popcount);
                        rows.push(RowAhead::new(tid));
                        hashes.push(hash);
                    }
                    rows.len() < self.most
                },
            );
        }
        if rows.len() < self.least {
            return None;
        }
        let threshold = self
            .measure
            .asked(self.guard.own.judge.searched_from(self.measure));
        let search = ManySearch::new(
            wanted,
            (self.bits, self.measure),
            threshold,
            self.page,
            self.memory,
        );
        let mut search = search.or_raise()?;
        for (number, row) in rows.iter_mut().enumerate() {
            row.set_clear(search.is_wanted(number));
        }
        for open in &self.targets {
            let check = EntryCheck::new(open.target, &self.start);
            let is_own_table = open.target.table == own.table;
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
        for page in tail.shared(index, geometry) {
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
