//! Which chunks are read to which radius, for each row of a batch.

use std::time::Instant;

use super::batch::{Batch, BatchRow};
use super::joiner::Joiner;
use crate::budget::{step, Greedy};
use crate::costs::{Costs, JOIN_TABLE_ROW};
use crate::Pages;

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
