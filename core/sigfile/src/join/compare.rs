//! Comparing rows with each other: candidates one by one, or whole blocks.

use super::batch::Batch;
use super::candidates::{sort_candidates, Candidate};
use super::joiner::Joiner;
use crate::pages::Pages;
use base::Result;

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
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        let weak_from = self.weak_from;
        let weak = |i: &usize| {
            let asked = &batch.rows[*i];
            asked.limit >= weak_from && asked.scanned < asked.rows.end
        };
        let from = (0..batch.len()).filter(weak).map(|i| batch.rows[i].scanned);
        let to = (0..batch.len())
            .filter(weak)
            .map(|i| batch.rows[i].rows.end);
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
            for i in (0..batch.len()).filter(weak) {
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
                    let similarity = query.similarity(popcounts[k], common);
                    let row = start + k as u32;
                    batch.each_twin(i, row, |i| hit(i, tids[k], similarity));
                });
                pages.tick();
            }
        }
        Ok(())
    }

    /// Looks at the candidates themselves, and takes them out.
    ///
    /// A pair that several chunks give is found by the first of them.
    pub(super) fn verify<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        let mut candidates = std::mem::take(&mut self.candidates);
        sort_candidates(&mut candidates, pages);
        let geometry = self.segment.geometry;
        let capacity = geometry.capacity;
        let mut last = usize::MAX;
        for some in candidates.chunks(VERIFIED) {
            for &candidate in some {
                let (asked, row) = (candidate.asked(), candidate.row());
                if asked != last {
                    self.query
                        .replace(batch.words(asked), batch.rows[asked].popcount);
                    last = asked;
                }
                let number = row / capacity as u32;
                let page = self.segment.row_page(number, pages.page(number)?)?;
                let i = row as usize % capacity;
                let popcount = self.segment.popcount_on(number, &page, i)?;
                let words = page.words(i, i + 1);
                if let Some(common) = self.query.hit(words, popcount) {
                    page.checked(i).map_err(|e| e.on_page(number))?;
                    let chunk = candidate.chunk();
                    if chunk == Candidate::SCANNED || self.is_first(asked, chunk, words) {
                        let similarity = self.query.similarity(popcount, common);
                        self.hits.push((asked, row, page.tid(i), similarity));
                    }
                }
                pages.tick();
            }
            pages.release();
            for (asked, row, tid, similarity) in self.hits.drain(..) {
                batch.each_twin(asked, row, |i| hit(i, tid, similarity));
            }
        }
        candidates.clear();
        self.candidates = candidates;
        Ok(())
    }

    /// Whether `chunk` is the first that gives a row with these words as a candidate of row `asked` of the batch, whose words the
    /// query has.
    fn is_first(&self, asked: usize, chunk: usize, words: &[u64]) -> bool {
        let postings = &self.segment.postings;
        let radii = &self.radii[asked * postings.len()..][..postings.len()];
        let near = postings.iter().zip(radii).position(|(postings, &radius)| {
            let (this, other) = (&postings.chunk, self.query.words());
            (this.value(words) ^ this.value(other)).count_ones() as i32 <= radius.into()
        });
        near == Some(chunk)
    }
}
