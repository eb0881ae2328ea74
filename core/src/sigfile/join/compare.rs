//! Comparing rows with each other: candidates one by one, or whole blocks.

use std::ops::Range;

use super::batch::Batch;
use super::candidates::sort_candidates;
use super::joiner::Joiner;
use crate::sigfile::pages::Pages;
use crate::Result;

/// Words of rows that are compared with one row after the other: they stay in the processor's cache.
const BLOCK_WORDS: usize = 1 << 14;

/// Candidates that are looked at before what is found is passed on.
const VERIFIED: usize = 1 << 10;

impl Joiner<'_> {
    /// Scans the rows themselves for those rows of the batch for which folds are of no use.
    pub(super) fn compare<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        some: Range<usize>,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        let weak_from = self.weak_from;
        let weak = |i: &usize| {
            let asked = &batch.rows[*i];
            asked.limit >= weak_from && asked.scanned < asked.rows.end
        };
        let from = some.clone().filter(weak).map(|i| batch.rows[i].scanned);
        let to = some.clone().filter(weak).map(|i| batch.rows[i].rows.end);
        let (Some(from), Some(to)) = (from.min(), to.max()) else {
            return Ok(());
        };
        let geometry = self.segment.geometry;
        let capacity = geometry.capacity as u32;
        let at_once = (BLOCK_WORDS / (geometry.capacity * geometry.stride)).max(1) as u32;
        for first in (from / capacity..to.div_ceil(capacity)).step_by(at_once as usize) {
            let numbers = first..(first + at_once).min(to.div_ceil(capacity));
            self.block.read(self.segment, numbers, pages)?;
            let base = first * capacity;
            for i in some.clone().filter(weak) {
                let asked = &batch.rows[i];
                let end = asked.rows.end.min(base + self.block.popcounts.len() as u32);
                let (start, end) = (asked.scanned.max(base), end.max(base));
                if start >= end {
                    continue;
                }
                self.query.replace(batch.words(i), asked.popcount);
                let (from, to) = ((start - base) as usize, (end - base) as usize);
                let words = &self.block.words[from * geometry.stride..to * geometry.stride];
                let (popcounts, tids) =
                    (&self.block.popcounts[from..to], &self.block.tids[from..to]);
                let query = &self.query;
                query.scan_words(words, popcounts, |k, common| {
                    hit(i, tids[k], query.similarity(popcounts[k], common))
                });
                pages.tick();
            }
        }
        Ok(())
    }

    /// Looks at the candidates themselves.
    pub(super) fn verify<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        sort_candidates(&mut self.candidates, pages);
        let geometry = self.segment.geometry;
        let capacity = geometry.capacity;
        let mut last = usize::MAX;
        for some in self.candidates.chunks(VERIFIED) {
            for &candidate in some {
                let (asked, row) = ((candidate >> 32) as usize, candidate as u32);
                if asked != last {
                    self.query
                        .replace(batch.words(asked), batch.rows[asked].popcount);
                    last = asked;
                }
                let number = row / capacity as u32;
                let page = self.segment.row_page(number, pages.page(number)?)?;
                let i = row as usize % capacity;
                let popcount = self.segment.popcount_on(number, &page, i)?;
                if let Some(common) = self.query.hit(page.words(i, i + 1), popcount) {
                    page.checked(i).map_err(|e| e.on_page(number))?;
                    let similarity = self.query.similarity(popcount, common);
                    self.hits.push((asked, page.tid(i), similarity));
                }
                pages.tick();
            }
            pages.release();
            for (asked, tid, similarity) in self.hits.drain(..) {
                hit(asked, tid, similarity);
            }
        }
        Ok(())
    }
}
