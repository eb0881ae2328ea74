//! What a join keeps between one batch and the next.

use super::batch::Batch;
use super::batch::{keep, sort_candidates, Candidate};
use super::table::Folds;
use super::table::TableProbe;
use crate::query::Query;
use crate::segment::Segment;
use crate::Pages;
use base::Result;
use std::ops::Range;
use std::time::Duration;

/// Searches one segment for many rows at a time. Where many rows are, their values are looked up in tables that
/// are made of the segment's rows. Few are looked up in the posting pages, in their order, so that those of one page
/// come together: looked up row by row, most of the time would go by waiting for memory.
pub struct Joiner<'a> {
    pub(super) segment: &'a Segment,
    pub(super) folds: &'a Folds,
    pub(super) query: Query,
    /// For each row of the batch and each chunk: the radius, −1 to leave it out.
    pub(super) radii: Vec<i8>,
    /// For the row being planned and each chunk: how many rows have the same value, if they are many.
    pub(super) frequent: Vec<Option<u32>>,
    /// For the row being planned: the chunks whose radii are raised, step by step.
    pub(super) order: Vec<u16>,
    /// Values to look up, and for which row of the batch: value · 2^32 + row.
    pub(super) probes: Vec<u64>,
    pub(super) near: Vec<u32>,
    pub(super) candidates: Vec<Candidate>,
    /// What was found among some candidates: row of the batch, row, tid, similarity.
    pub(super) hits: Vec<(usize, u32, u64, f64)>,
    pub(super) tables: TableProbe,
    /// From how many bits on, in which rows may differ, folds are of no use.
    pub(super) weak_from: u32,
    pub(super) block: RowBlock,
    /// Whether values are looked up in tables, where that is not left to the costs.
    pub(super) forced: Option<bool>,
    /// How many rows each row of a batch stands for.
    pub(super) weight: f64,
    /// How long it has taken to choose between tables and pages, and to make tables.
    pub(super) once: Duration,
}

impl<'a> Joiner<'a> {
    /// Rows outside of `folds` are not found. Any threshold will do; NaN finds nothing.
    ///
    /// # Panics
    /// If rows have keys: they are not in the order of their popcounts then.
    pub fn new(segment: &'a Segment, folds: &'a Folds, threshold: f64) -> Joiner<'a> {
        let geometry = &segment.geometry;
        assert!(!geometry.keys, "rows with keys are joined key by key");
        Joiner {
            segment,
            folds,
            query: Query::new(geometry, &vec![0; geometry.stride], threshold),
            radii: Vec::new(),
            frequent: Vec::new(),
            order: Vec::new(),
            probes: Vec::new(),
            near: Vec::new(),
            candidates: Vec::new(),
            hits: Vec::new(),
            tables: TableProbe::default(),
            weak_from: folds.weak_from(),
            block: RowBlock::default(),
            forced: None,
            weight: 1.0,
            once: Duration::ZERO,
        }
    }

    /// Has a batch searched as if each row of it were so many.
    pub fn stand_for(&mut self, rows: f64) {
        self.weight = rows;
    }

    /// The part of the time of all searches that does not depend on how many rows were searched for.
    pub fn once(&self) -> Duration {
        self.once
    }

    /// Has values looked up in tables in memory, or in the posting pages, whatever is quicker. For tests.
    pub fn force(&mut self, in_tables: bool) {
        self.forced = Some(in_tables);
    }
}

// The way of a batch through a segment.

/// Rows that are scanned before what is found is passed on.
const SCANNED: u32 = 1 << 16;

impl Joiner<'_> {
    /// Calls `hit` with the number of a row of the batch, and tid and similarity of each row, also a dead one, that
    /// reaches the threshold with it. No page is held then.
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

// Comparing rows with each other: candidates one by one, or whole blocks.

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

    /// Whether `chunk` is the first that gives a row with these words as a candidate of row `asked` of the batch, whose
    /// words the query has.
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

// Rows of some neighbouring pages, copied so that they are side by side in memory.

/// Some rows of a segment, side by side.
#[derive(Default)]
pub(super) struct RowBlock {
    pub(super) words: Vec<u64>,
    pub(super) popcounts: Vec<u32>,
    pub(super) tids: Vec<u64>,
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
}
