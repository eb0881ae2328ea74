//! The rows of a merge.

use base::Result;
use sigfile::chunk::{Chunk, Frequencies, MIN_ROWS};
use sigfile::merging::{MergedChunk, Phase};
use sigfile::{Pages, Part, RowPageMut};

use super::sources::RowPlaces;
use super::sources::{segments, RowSources};
use super::MergeStep;
use crate::page::PageKind;

/// Pages of rows that the chunks are chosen by.
const SAMPLED_PAGES: u32 = 128;

impl MergeStep<'_, '_> {
    /// Writes some pages of rows; at the end of the rows, chooses the chunks.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn rows(&mut self) -> Result<()> {
        let index = self.lock.index;
        let segments = segments(index, &self.meta, &self.merge)?;
        let mut sources = RowSources::new(index, &self.meta, &self.merge, &segments)?;
        let geometry = self.meta.geometry(self.merge.part);
        let mut page = vec![0; geometry.page_words];
        let (mut rows, mut about, mut least) = (0, 0, f64::INFINITY);
        let mut pages = 0;
        let mut from = RowPlaces::new(&mut sources, self.merge.position)?;
        while let Some(position) = from.next(&mut sources)? {
            self.turn();
            let next = sources.row(position.source as usize, from.place)?;
            from.pass();
            if next.tid == 0 {
                continue;
            }
            // This is the last gate: what is wrong with a row is not copied.
            next.check(&geometry)?;
            if rows == 0 {
                about = if geometry.keys {
                    next.key
                } else {
                    next.popcount
                };
            }
            if next.popcount < geometry.null_popcount() {
                least = least.min(next.threshold);
            }
            RowPageMut::new(geometry, &mut page).push(next);
            rows += 1;
            if rows == geometry.capacity as u32 {
                self.write(PageKind::Rows, about, |to| to.copy_from_slice(&page))?;
                self.merge.rows += rows;
                self.merge.least_threshold = self.merge.least_threshold.min(least);
                self.merge.position = from.position();
                page.fill(0);
                (rows, least) = (0, f64::INFINITY);
                pages += 1;
                if pages >= self.size.pages {
                    return Ok(());
                }
            }
        }
        if rows > 0 {
            self.write(PageKind::Rows, about, |to| to.copy_from_slice(&page))?;
            self.merge.rows += rows;
            self.merge.least_threshold = self.merge.least_threshold.min(least);
        }
        self.merge.position = from.position();
        drop(sources);
        self.choose_chunks()
    }

    /// Errors: a damaged page.
    fn choose_chunks(&mut self) -> Result<()> {
        let geometry = self.meta.geometry(self.merge.part);
        let (rows, given) = (self.merge.rows, self.lock.options.chunks);
        self.merge.phase = Phase::Description;
        if self.merge.part == Part::Nulls || (rows < MIN_ROWS && given.is_none()) {
            return Ok(());
        }
        let mut frequencies = Frequencies::new(geometry.bits, geometry.measure);
        let written = self.row_set();
        let step = geometry.pages(rows).div_ceil(SAMPLED_PAGES).max(1);
        let mut pages = self.pages();
        for number in (0..geometry.pages(rows)).step_by(step as usize) {
            let page = written.page(number, pages.page(number)?)?;
            (0..page.len()).for_each(|i| frequencies.add(page.words(i, i + 1)));
            pages.tick();
        }
        drop(pages);
        let new = |chunk: Chunk| MergedChunk { chunk, pages: 0 };
        let chunks = frequencies.deal(rows, given);
        self.merge.chunks = chunks.into_iter().map(new).collect();
        if !self.merge.chunks.is_empty() {
            self.merge.phase = Phase::Postings;
        }
        Ok(())
    }

    /// Interrupts are looked for between pages only: what is not written yet is done once more.
    fn turn(&self) {
        if self.size.interruptible {
            pg::check_for_interrupts();
        }
    }
}
