//! Rows of some neighbouring pages, copied so that they are side by side in memory, and folded.

use super::batch::Batch;
use crate::query::Query;
use crate::segment::Segment;
use crate::Pages;
use base::Result;
use signature::bits::{fold_into, FoldColumns, FoldWidth};
use std::ops::Range;

/// Rows that are compared with one row after the other: their folds stay in the processor's first cache.
pub(super) const BLOCK: usize = 512;

/// Pairs of rows by which the width of folds is chosen.
const PAIRS: usize = 256;

/// Some rows of a segment, side by side.
#[derive(Default)]
pub(super) struct RowBlock {
    words: Vec<u64>,
    pub(super) popcounts: Vec<u32>,
    pub(super) tids: Vec<u64>,
    folds: FoldColumns,
    /// A fold of the row that is searched for, as wide as those of the rows; empty where these are not folded.
    fold: Vec<u64>,
}

impl RowBlock {
    /// Errors: a damaged page; out of memory.
    pub(super) fn read(
        &mut self,
        segment: &Segment,
        numbers: Range<u32>,
        pages: &mut impl Pages,
    ) -> Result<()> {
        self.words.clear();
        self.popcounts.clear();
        self.tids.clear();
        for number in numbers {
            let page = segment.row_page(number, pages.page(number)?)?;
            segment.check_popcounts(number, &page, 0, page.len())?;
            self.words.extend_from_slice(page.words(0, page.len()));
            self.popcounts.extend_from_slice(page.popcounts());
            self.tids.extend((0..page.len()).map(|i| page.tid(i)));
        }
        pages.release();
        Ok(())
    }

    fn row(&self, i: usize, stride: usize) -> &[u64] {
        &self.words[i * stride..(i + 1) * stride]
    }

    /// How wide folds should be where these rows of the batch are searched for among rows like these, as a sample says; none
    /// if rows are better compared as they are.
    pub(super) fn width_for(
        &self,
        query: &mut Query,
        batch: &Batch,
        asked: impl Iterator<Item = usize> + Clone,
    ) -> Option<usize> {
        let (rows, count) = (self.popcounts.len(), asked.clone().count());
        let stride = query.words().len();
        let mut width = FoldWidth::default();
        for (n, i) in asked
            .step_by(count.div_ceil(PAIRS))
            .cycle()
            .take(PAIRS)
            .enumerate()
        {
            let row = n * rows / PAIRS;
            query.replace(batch.words(i), batch.rows[i].popcount);
            if let Some(limit) = query.greatest_radius(self.popcounts[row]..=self.popcounts[row]) {
                width.add((batch.words(i), self.row(row, stride)), limit);
            }
        }
        width.best(stride)
    }

    /// Folds the rows to so many words.
    ///
    /// Errors: out of memory.
    pub(super) fn fold(&mut self, stride: usize, width: Option<usize>) -> Result<()> {
        self.fold.clear();
        self.fold.resize(width.unwrap_or(0), 0);
        match width {
            Some(width) => self.folds.take(&self.words, stride, width),
            None => Ok(()),
        }
    }

    /// Calls `hit` with number and common bits of the rows of a range that a query finds.
    pub(super) fn scan(
        &mut self,
        query: &Query,
        rows: Range<usize>,
        mut hit: impl FnMut(&RowBlock, usize, u32),
    ) {
        let stride = query.words().len();
        if self.fold.is_empty() {
            let words = &self.words[rows.start * stride..rows.end * stride];
            query.scan_words(words, &self.popcounts[rows.clone()], |k, common| {
                hit(self, rows.start + k, common);
            });
            return;
        }
        self.fold.fill(0);
        fold_into(&mut self.fold, query.words());
        // The rows are in the order of their popcounts.
        let popcounts = self.popcounts[rows.start]..=self.popcounts[rows.end - 1];
        let Some(limit) = query.greatest_radius(popcounts) else {
            return;
        };
        self.folds.near(&self.fold, rows, limit, |k| {
            if let Some(common) = query.hit(self.row(k, stride), self.popcounts[k]) {
                hit(self, k, common);
            }
        });
    }
}
