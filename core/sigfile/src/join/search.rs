//! The way of a batch through a segment.

use super::batch::Batch;
use super::candidates::{keep, Candidate};
use super::joiner::Joiner;
use crate::pages::Pages;
use base::Result;

/// Rows that are scanned before what is found is passed on.
const SCANNED: u32 = 1 << 16;

impl Joiner<'_> {
    /// Calls `hit` with the number of a row of the batch, and tid and similarity of each row, also a dead one, that reaches the
    /// threshold with it. No page is held then.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn search<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &mut Batch,
        mut hit: impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        batch.link_twins(|| pages.tick());
        self.find_windows(pages, batch);
        let in_tables = self.plan(pages, batch);
        self.probe(pages, batch, in_tables, &mut hit)?;
        self.compare(pages, batch, &mut hit)?;
        for i in 0..batch.len() {
            let asked = &batch.rows[i];
            if asked.limit >= self.weak_from {
                continue;
            }
            let mut rest = asked.scanned..asked.rows.end;
            while !rest.is_empty() {
                let end = rest.end.min(rest.start + SCANNED);
                self.near.clear();
                let filter = asked.filter(self.folds);
                filter.all(rest.start..end, &mut self.near)?;
                keep(&mut self.candidates, i, Candidate::SCANNED, &self.near)?;
                self.verify(pages, batch, &mut hit)?;
                pages.tick();
                rest.start = end;
            }
        }
        Ok(())
    }

    /// Finds for each row of the batch the rows that can be similar to it.
    fn find_windows(&mut self, pages: &mut impl Pages, batch: &mut Batch) {
        let here = self.folds.rows();
        let mut limit = 0;
        for i in 0..batch.rows.len() {
            pages.tick();
            let popcount = batch.rows[i].popcount;
            let other = i == 0 || popcount != self.query.popcount();
            self.query.replace(batch.words(i), popcount);
            let asked = &mut batch.rows[i];
            let Some((lo, hi)) = self.query.window().filter(|_| !asked.is_led) else {
                asked.rows = 0..0;
                asked.limit = 0;
                continue;
            };
            if other {
                limit = (lo..=hi).map(|c| self.query.radius(c)).max().unwrap_or(0);
            }
            let rows = self.segment.range(lo, hi);
            let start = rows.start.max(asked.rows.start).max(here.start);
            asked.rows = start..rows.end.min(here.end).max(start);
            asked.window = (lo, hi);
            asked.limit = limit;
        }
    }
}
