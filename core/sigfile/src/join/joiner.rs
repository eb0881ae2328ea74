//! What a join keeps between one batch and the next.

use super::batch::{keep, sort_candidates, Batch, BatchRow, Candidate};
use super::block::{RowBlock, BLOCK};
use super::table::{Folds, TableProbe};
use crate::budget::{step, Greedy};
use crate::costs::{Costs, JOIN_TABLE_ROW};
use crate::query::Query;
use crate::segment::Segment;
use crate::Pages;
use base::Result;
use std::time::{Duration, Instant};

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
    /// Whether values are looked up in tables in memory, or in the posting pages, whatever is quicker, where that is not
    /// left to the costs: for tests.
    pub forced: Option<bool>,
    /// How many rows each row of a batch stands for: it is searched as if it were so many.
    pub weight: f64,
    /// How long it has taken to choose between tables and pages, and to make tables: the part of the time of all searches
    /// that does not depend on how many rows were searched for.
    pub once: Duration,
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
        let at_once = (BLOCK / geometry.capacity).max(1) as u32;
        let numbers = from / capacity..to.div_ceil(capacity);
        let block = |first: u32| first..(first + at_once).min(numbers.end);
        // Rows in the middle have as many bits as most.
        let middle = numbers.start + numbers.len() as u32 / 2;
        self.block.read(self.segment, block(middle), pages)?;
        let sample = (0..batch.len()).filter(weak);
        let width = self.block.width_for(&mut self.query, batch, sample);
        for first in numbers.clone().step_by(at_once as usize) {
            self.block.read(self.segment, block(first), pages)?;
            self.block.fold(geometry.stride, width)?;
            let base = first * capacity;
            for i in (0..batch.len()).filter(weak) {
                let asked = &batch.rows[i];
                let end = asked.rows.end.min(base + self.block.popcounts.len() as u32);
                let (start, end) = (asked.scanned.max(base), end.max(base));
                if start >= end {
                    continue;
                }
                self.query.replace(batch.words(i), asked.popcount);
                let query = &self.query;
                let rows = (start - base) as usize..(end - base) as usize;
                self.block.scan(query, rows, |block, k, common| {
                    let similarity = query.similarity(block.popcounts[k], common);
                    let row = base + k as u32;
                    batch.each_twin(i, row, |i| hit(i, block.tids[k], similarity));
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

// Which chunks are read to which radius, for each row of a batch.

/// So many rows of a batch are planned both ways, to find out whether tables are worth making.
const SAMPLE: usize = 48;

/// The last plan that will do for other rows, too: of which row of the batch it is, and from where on rows are scanned.
#[derive(Clone, Copy)]
struct Usual {
    row: usize,
    scanned: u32,
}

impl Joiner<'_> {
    /// Chooses radii, as budget::plan. Says whether values are looked up in tables.
    pub(super) fn plan(&mut self, pages: &mut impl Pages, batch: &mut Batch) -> bool {
        let chunks = self.segment.postings.len();
        for asked in &mut batch.rows {
            asked.scanned = asked.rows.start;
        }
        self.radii.clear();
        self.radii.resize(batch.len() * chunks, -1);
        if self.query.threshold() <= 0.0 || chunks == 0 {
            return false;
        }
        let started = Instant::now();
        let in_tables = match self.forced {
            Some(forced) => forced,
            None => self.are_tables_quicker(batch),
        };
        self.once += started.elapsed();
        let mut usual: Option<Usual> = None;
        for i in 0..batch.len() {
            pages.tick();
            let asked = &batch.rows[i];
            if !self.is_worth_a_plan(asked, in_tables) {
                continue;
            }
            let is_usual = self.find_frequent(batch, i);
            let (popcount, rows) = (asked.popcount, asked.rows.clone());
            let same = usual.filter(|usual| {
                let other = &batch.rows[usual.row];
                is_usual && other.popcount == popcount && other.rows.start <= rows.start
            });
            let scanned = match same {
                Some(Usual { row, scanned }) => {
                    self.radii
                        .copy_within(row * chunks..(row + 1) * chunks, i * chunks);
                    scanned.clamp(rows.start, rows.end)
                }
                None => self.plan_one(batch, i, in_tables).0,
            };
            if is_usual && same.is_none() {
                usual = Some(Usual { row: i, scanned });
            }
            batch.rows[i].scanned = scanned;
        }
        in_tables
    }

    /// Whether scanning costs more than looking up the own values.
    fn is_worth_a_plan(&self, asked: &BatchRow, in_tables: bool) -> bool {
        let costs = asked.costs(self.weak_from, in_tables);
        let scan = costs.scan(asked.rows.len() as u32, self.segment.geometry.stride);
        scan >= self.segment.postings.len() as f64 * costs.probe
    }

    /// Finds out which values of row `i` of the batch are frequent. Returns whether none is.
    fn find_frequent(&mut self, batch: &Batch, i: usize) -> bool {
        let words = batch.words(i);
        let counts = &self.folds.counts;
        let postings = self.segment.postings.iter().enumerate();
        self.frequent.clear();
        self.frequent.extend(postings.map(|(chunk, postings)| {
            counts
                .frequent(chunk, postings.chunk.value(words))
                .map(|rows| rows as u32)
        }));
        self.frequent.iter().all(Option::is_none)
    }

    /// Whether looking values up in tables costs less than in the pages, as a sample of the batch says.
    fn are_tables_quicker(&mut self, batch: &Batch) -> bool {
        let (mut by_page, mut in_tables, mut rows) = (0.0, 0.0, 0..0);
        let step = batch.len().div_ceil(SAMPLE).max(1);
        for i in (0..batch.len()).step_by(step) {
            let asked = &batch.rows[i];
            if self.is_worth_a_plan(asked, false) {
                self.find_frequent(batch, i);
                by_page += self.plan_one(batch, i, false).1;
                in_tables += self.plan_one(batch, i, true).1;
                rows = asked.rows.clone();
            }
        }
        self.radii.fill(-1);
        let tables = JOIN_TABLE_ROW * rows.len() as f64 * self.segment.postings.len() as f64;
        (by_page - in_tables) * step as f64 * self.weight > tables
    }

    /// Chooses radii for row `i` of the batch. Returns from where on rows are scanned, and what all of it costs.
    fn plan_one(&mut self, batch: &Batch, i: usize, in_tables: bool) -> (u32, f64) {
        let (segment, asked) = (self.segment, &batch.rows[i]);
        self.query.replace(batch.words(i), asked.popcount);
        let chunks = segment.postings.len();
        let rows = &asked.rows;
        let costs = *asked.costs(self.weak_from, in_tables);
        let scan = |rows: u32| costs.scan(rows, segment.geometry.stride);
        // The lists are those of all rows.
        let lists = Costs {
            candidate: costs.candidate * rows.len() as f64 / f64::from(segment.present().max(1)),
            ..costs
        };
        let frequent = &self.frequent;
        let cost = |chunk: usize, radius: u32| {
            let own = frequent[chunk].or(Some(segment.postings[chunk].expected[0] as u32));
            step(segment, chunk, radius, own, &lists)
        };
        self.order.clear();
        let mut greedy = Greedy::new(chunks, |chunk| cost(chunk, 0));
        let (mut widest, mut chosen) = (0, 0);
        let mut best = (scan(rows.len() as u32), rows.start);
        let first = segment.popcount_of(rows.start);
        'popcounts: for popcount in first..=asked.window.1 {
            let end = segment.first[popcount as usize + 1].min(rows.end);
            if end <= rows.start || end == segment.first[popcount as usize].min(rows.end) {
                continue;
            }
            widest = widest.max(self.query.radius(popcount));
            while self.order.len() <= widest as usize {
                match greedy.next(cost) {
                    Some((chunk, spent)) if spent < best.0 => self.order.push(chunk as u16),
                    _ => break 'popcounts,
                }
            }
            let cost = greedy.spent + scan(rows.end - end);
            if cost < best.0 {
                best = (cost, end);
                chosen = self.order.len();
            }
        }
        let radii = &mut self.radii[i * chunks..(i + 1) * chunks];
        radii.fill(-1);
        for &chunk in &self.order[..chosen] {
            radii[chunk as usize] += 1;
        }
        (best.1, best.0)
    }
}
