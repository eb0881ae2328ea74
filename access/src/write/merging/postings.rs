//! The posting lists of a merge, and reading the pages that it has written.

use super::MergeStep;
use crate::page::{PageGuard, PageKind, SharedLock, SigfileIndex};
use base::Result;
use pg::{check_for_interrupts, interrupts_are_pending};
use pgrx::pg_sys;
use sigfile::merging::{Phase, SegmentMerge};
use sigfile::posting::PostingFiller;
use sigfile::write::PostingSorter;
use sigfile::{Meta, Pages, Part, RowPages};
use std::cell::RefCell;

/// Posting pages after which it is written down how far the merge has come.
const SAVED: usize = 128;

/// Postings that are enough for a step, of as many chunks as it takes.
const ENOUGH: usize = 1 << 15;

/// Postings that it sorts and writes at a time: the pages of a step.
const PART: usize = 1 << 15;

/// A session collects the postings of a merge in so many turns at most, or some more.
const TURNS: usize = 16;

/// Bytes of a posting, with its share of the directory.
pub const POSTING_BYTES: usize = 5;

/// Pages that a merge has written.
pub struct WrittenPages<'a, 'r> {
    index: SigfileIndex<'r>,
    blocks: &'a [u64],
    generation: u64,
    row_pages: u32,
    interruptible: bool,
    current: Option<(u32, PageGuard<'r, SharedLock>)>,
}

impl Pages for WrittenPages<'_, '_> {
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        if self.current.as_ref().is_none_or(|(n, _)| *n != number) {
            self.current = None;
            let kind = PageKind::of_segment_page(number, self.row_pages);
            let page = self.index.share(self.blocks[number as usize] as u32);
            self.current = Some((number, page.expect(kind, self.generation)?));
        }
        Ok(self.current.as_ref().expect("just read").1.words())
    }

    fn tick(&mut self) {
        if self.interruptible && interrupts_are_pending() {
            self.current = None;
            check_for_interrupts();
        }
    }

    fn release(&mut self) {
        self.current = None;
    }
}

impl<'r> MergeStep<'_, 'r> {
    /// The pages that are written.
    pub fn pages(&self) -> WrittenPages<'_, 'r> {
        let geometry = self.meta.geometry(self.merge.part);
        WrittenPages {
            index: self.lock.index,
            blocks: &self.list.words[..self.merge.written as usize],
            generation: self.merge.generation,
            row_pages: geometry.pages(self.merge.rows),
            interruptible: self.size.interruptible,
            current: None,
        }
    }

    /// The pages of rows, all of which are written.
    pub fn row_set(&self) -> RowPages {
        let rows = self.merge.rows;
        RowPages {
            geometry: self.meta.geometry(self.merge.part),
            rows,
            present: match self.merge.part {
                Part::Signatures => rows,
                Part::Nulls => 0,
            },
        }
    }

    /// Writes some postings, or collects them; after the last ones the description can be written. Returns whether
    /// there was anything to write down.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn postings(&mut self) -> Result<bool> {
        let rows = self.row_set();
        let pages = (rows.present as usize).div_ceil(rows.geometry.capacity);
        let partly = self.size.scanned < pages;
        if partly && (self.merge.chunk as usize) < self.merge.chunks.len() {
            let entered = self.meta.entered();
            let kept = PartialSort::take(&self.meta, &self.merge);
            if kept.is_none() && is_left_to_others(&self.meta, &self.merge, entered) {
                return Ok(false);
            }
            if kept.is_some() || PartialSort::has_room() {
                return self.postings_partly(kept, pages);
            }
        }
        let mut sorter = PostingSorter::new(self.size.memory, rows.present)?;
        let mut sorted = 0;
        while sorted < ENOUGH {
            let at = self.merge.chunk as usize;
            let Some(chunk) = self.merge.chunks.get(at).map(|c| c.chunk) else {
                self.merge.phase = Phase::Description;
                return Ok(true);
            };
            let all = sorter.collect(rows, chunk, self.merge.posting, &mut self.pages())?;
            sorted += rows.present as usize / 8 + sorter.postings().len();
            self.write_sorted(sorter.postings(), all)?;
        }
        Ok(true)
    }

    /// Reads some pages of rows, of `all`, or writes some pages of postings that were collected from all of them.
    ///
    /// Errors: a damaged page; out of memory.
    fn postings_partly(&mut self, kept: Option<PartialSort>, all: usize) -> Result<bool> {
        let rows = self.row_set();
        let chunk = self.merge.chunks[self.merge.chunk as usize].chunk;
        let mut sort = match kept {
            Some(sort) => sort,
            None => PartialSort::new(&self.meta, &self.merge, self.size.memory)?,
        };
        let begun = self.merge.owner != this_process();
        self.merge.owner = this_process();
        if !sort.collected {
            let most = self.size.scanned.max(all / TURNS);
            sort.collected = sort.sorter.scan(rows, chunk, most, &mut self.pages())?;
            sort.keep();
            return Ok(begun);
        }
        let nothing_left_out = sort.sorter.is_all();
        let (part, last) = sort.sorter.part(PART, &mut self.pages());
        self.write_sorted(part, last && nothing_left_out)?;
        if !last {
            sort.go_on(&self.merge);
            sort.keep();
        }
        Ok(true)
    }

    /// Writes sorted postings of the chunk, the next that are to be written; `all`: no others are behind them. If there
    /// are, those of the last page, which they do not fill, are left.
    ///
    /// Errors: damaged lists of free blocks; out of memory.
    fn write_sorted(&mut self, postings: &[u64], all: bool) -> Result<()> {
        let chunk = self.merge.chunks[self.merge.chunk as usize].chunk;
        let words = self.meta.geometry(self.merge.part).page_words;
        let mut filler = PostingFiller::new(words, chunk.width, self.row_set().present);
        let mut written = 0;
        for &posting in postings {
            let (value, row) = ((posting >> 32) as u32, posting as u32);
            if !filler.push(value, row) {
                self.write_postings(&mut filler)?;
                // What is written lies below this one.
                self.merge.posting = posting;
                written += 1;
                if written % SAVED == 0 {
                    self.save()?;
                }
                filler.push(value, row);
            }
        }
        if all {
            if !filler.is_empty() {
                self.write_postings(&mut filler)?;
            }
            (self.merge.chunk, self.merge.posting) = (self.merge.chunk + 1, 0);
            if self.merge.chunk as usize == self.merge.chunks.len() {
                self.merge.phase = Phase::Description;
            }
        }
        Ok(())
    }

    /// Errors: damaged lists of free blocks; out of memory.
    fn write_postings(&mut self, filler: &mut PostingFiller) -> Result<()> {
        let fence = filler.least();
        self.write(PageKind::Postings, fence, |to| {
            filler.finish(to);
        })?;
        self.merge.chunks[self.merge.chunk as usize].pages += 1;
        Ok(())
    }
}

// The postings of a large merge, collected by one session over many of its inserts.
//
// To sort a part of a chunk's postings all rows have to be read, which takes some ten milliseconds for a million. So
// an inserting session reads some pages at a time and keeps what it has collected in its own memory. The merge tells
// which process that is, so that others leave it alone; what it collected is lost with it, and nothing else: somebody
// else begins that part again.

/// What is being collected for another index gives way when it was not asked for so many times.
const IDLE: u32 = 256;

/// Rows that are entered, at least, before a session takes postings over that another has made no use of.
const PATIENCE: u64 = 4096;

/// Postings of a chunk of a merge that are being collected, or written a part at a time.
pub struct PartialSort {
    identity: u64,
    generation: u64,
    chunk: u32,
    /// The first posting that is to be written.
    from: u64,
    /// Whether all rows have been read.
    pub collected: bool,
    pub sorter: PostingSorter,
}

#[derive(Default)]
struct KeptSort {
    sort: Option<PartialSort>,
    idle: u32,
    /// Index, merge and pages written of one that another process was seen to be at, and the rows that had been entered
    /// then.
    seen: (u64, u64, u32, u64),
}

pg::session_state! {
    static KEPT: RefCell<KeptSort> = RefCell::default();
    "sorted postings" by "index and merge" until "the merge goes on or ends, or others are at it for long"
        bytes |kept| kept.borrow().sort.as_ref().map_or(0, |sort| sort.sorter.size());
}

impl PartialSort {
    /// For the postings that a merge needs next, in some `memory` bytes.
    ///
    /// Errors: out of memory.
    pub fn new(meta: &Meta, merge: &SegmentMerge, memory: usize) -> Result<PartialSort> {
        let mut sorter = PostingSorter::in_parts(memory, merge.rows)?;
        sorter.start(merge.posting);
        Ok(PartialSort {
            identity: meta.identity,
            generation: merge.generation,
            chunk: merge.chunk,
            from: merge.posting,
            collected: false,
            sorter,
        })
    }

    /// Takes out what this session has kept for the merge.
    pub fn take(meta: &Meta, merge: &SegmentMerge) -> Option<PartialSort> {
        let sort = KEPT.with_borrow_mut(|kept| {
            let own = kept
                .sort
                .take_if(|s| (s.identity, s.generation) == (meta.identity, merge.generation));
            kept.idle = if own.is_some() { 0 } else { kept.idle + 1 };
            own
        })?;
        ((sort.chunk, sort.from) == (merge.chunk, merge.posting)).then_some(sort)
    }

    /// What the merge has written is taken.
    pub fn go_on(&mut self, merge: &SegmentMerge) {
        self.from = merge.posting;
        self.sorter.leave(merge.posting);
    }

    /// Whether there is room to keep one: a session keeps one at a time.
    pub fn has_room() -> bool {
        KEPT.with_borrow(|kept| kept.sort.is_none() || kept.idle > IDLE)
    }

    pub fn keep(self) {
        KEPT.with_borrow_mut(|kept| (kept.sort, kept.idle) = (Some(self), 0));
    }

    /// Forgets what was kept for a merge of this index that is none of these any more.
    pub fn forget_others(meta: &Meta, merges: &[SegmentMerge]) {
        KEPT.with_borrow_mut(|kept| {
            kept.sort.take_if(|sort| {
                let same = |m: &SegmentMerge| m.generation == sort.generation;
                sort.identity == meta.identity && !merges.iter().any(same)
            });
        });
    }
}

/// Whether another process is at the postings of a merge, and has not been gone for long: `entered` rows are there by
/// now.
pub fn is_left_to_others(meta: &Meta, merge: &SegmentMerge, entered: u64) -> bool {
    if merge.owner == 0 || merge.owner == this_process() {
        return false;
    }
    let (from, to) = merge.paced;
    let patience = PATIENCE.max(to.saturating_sub(from) / 16);
    KEPT.with_borrow_mut(|kept| {
        let (identity, generation, written, when) = kept.seen;
        let now = (meta.identity, merge.generation, merge.written);
        if (identity, generation, written) != now {
            kept.seen = (now.0, now.1, now.2, entered);
            return true;
        }
        entered < when.saturating_add(patience)
    })
}

/// The id of this process.
pub fn this_process() -> u32 {
    // SAFETY: a number that the server has set at the beginning of the process.
    unsafe { pg_sys::MyProcPid as u32 }
}
