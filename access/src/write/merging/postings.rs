//! The posting lists of a merge, and reading the pages that it has written.

use base::Result;
use sigfile::merging::Phase;
use sigfile::posting::PostingFiller;
use sigfile::write::PostingSorter;
use sigfile::{Pages, Part, RowPages};

use super::partial::{is_left_to_others, this_process, PartialSort};
use super::MergeStep;
use crate::page::{PageGuard, PageKind, SharedLock, SigfileIndex};
use pg::{check_for_interrupts, interrupts_are_pending};

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
            row_pages: self.merge.row_pages(&geometry),
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
        if self.merge.chunk as usize == self.merge.chunks.len() {
            self.merge.phase = Phase::Description;
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
        if self.merge.chunk as usize == self.merge.chunks.len() {
            self.merge.phase = Phase::Description;
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
