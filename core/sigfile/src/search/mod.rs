//! Searching one segment: candidates from the chunks, then the rows themselves.

mod covering;
mod lists;

use self::lists::{OwnLists, Probe};
use super::budget::{SearchPlan, SearchSteps};
use super::chunk::MAX_CHUNKS;
use super::keys::Within;
use crate::query::Query;
use crate::segment::{Postings, Segment};
use crate::Pages;
use base::sort::{sort, sort_distinct};
use base::{Result, Ticker};
use std::ops::Range;

pub use covering::covering_cost;
pub use lists::PageWork;

/// What is left to look at: rows by number, ascending. One after the other, many segments can be searched by it.
#[derive(Debug, Default)]
pub struct Search {
    candidates: Vec<u32>,
    /// Candidates already looked at.
    done: usize,
    /// Candidates whose pages are on their way.
    awaited: usize,
    scanned: Range<u32>,
    /// Memory that is used again.
    space: SearchSpace,
}

/// What the search of a segment needs until its candidates are found.
#[derive(Debug, Default)]
struct SearchSpace {
    own: OwnLists,
    order: Vec<u8>,
    waiting: Vec<(u32, Range<u32>)>,
}

/// Candidates whose pages are on their way at once.
const AHEAD: usize = 8;

/// The first words of the cache lines of a page.
const LINES: [usize; 128] = {
    let mut lines = [0; 128];
    let mut i = 0;
    while i < lines.len() {
        lines[i] = 8 * i;
        i += 1;
    }
    lines
};

/// How many times more than expected the lists of a search may cost that has looked up no more than it needs.
const WORSE: f64 = 2.0;

/// Lists that are on their way behind those that are needed: mostly, some of them are looked up.
const MORE: usize = 2;

/// The share of rows in some list that are in another one, too, or in one list more. It is a guess, which only the cost
/// depends on.
const REPEATED: f64 = 0.125;

/// The chunks' radii, for each one more.
type Radii = [u16; MAX_CHUNKS];

impl Search {
    /// Reads posting lists as far as that is cheaper than scanning. `steps` are those of the segment. Where rows have
    /// keys and one is given, only rows of that key are wanted; some others can be found, too.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn start(
        &mut self,
        segment: &Segment,
        steps: &SearchSteps,
        query: &Query,
        key: Option<u32>,
        pages: &mut impl Pages,
    ) -> Result<()> {
        self.candidates.clear();
        (self.done, self.awaited) = (0, 0);
        let within = segment.within(query, key);
        let chosen = steps.plan(segment, query, &within);
        self.scanned = chosen.scanned.clone();
        if chosen.steps == 0 {
            return Ok(());
        }
        self.space.own.clear();
        if chosen.steps <= steps.first().count() {
            let needed = self.choose_lists(segment, steps, query, (&chosen, &within), pages)?;
            if let Some(needed) = needed {
                let mut radii = [0; MAX_CHUNKS];
                for list in &self.space.own.found {
                    radii[list.chunk] = 1;
                }
                return self.probe(segment, query, &chosen, &radii, needed, pages);
            }
        }
        let chosen = self.plan_by_lists(segment, steps, query, &within, pages)?;
        self.scanned = chosen.scanned.clone();
        let mut radii = [0; MAX_CHUNKS];
        for &chunk in &self.space.order[..chosen.steps] {
            radii[usize::from(chunk)] += 1;
        }
        self.probe(segment, query, &chosen, &radii, 1, pages)
    }

    /// Looks up own values in the chunks that the plan wants, and in more of them as long as that costs less than it
    /// spares: a row that differs in r bits at the most has the query's value in all chunks but r, so in k − r of k
    /// lists. Returns in how many of the lists that were looked up a row has to be; nothing if they are much longer
    /// than expected.
    ///
    /// Errors: out of memory; a damaged page.
    fn choose_lists(
        &mut self,
        segment: &Segment,
        steps: &SearchSteps,
        query: &Query,
        (chosen, within): (&SearchPlan, &Within),
        pages: &mut impl Pages,
    ) -> Result<Option<usize>> {
        let own = &mut self.space.own;
        own.narrow = within.share < 1.0;
        let (wanted, within) = (chosen.steps, &chosen.probed);
        let mut chunks = steps.first();
        let first = chunks.by_ref().take(wanted + MORE);
        own.expect(segment, query, first, pages);
        own.read(segment, wanted, within, pages)?;
        let (mut needed, mut share) = (1, 1.0);
        let cost = |own: &OwnLists, share: f64| {
            let rows: u32 = own.found.iter().map(|list| list.len).sum();
            f64::from(rows) * share * steps.costs().candidate
        };
        loop {
            if own.next().is_none() {
                own.expect(segment, query, chunks.by_ref().take(MORE), pages);
            }
            let Some(chunk) = own.next() else {
                break;
            };
            if cost(own, share) <= steps.expected(segment, chunk, 0) {
                break;
            }
            own.read(segment, 1, within, pages)?;
            needed += 1;
            share *= REPEATED;
        }
        while needed > 1 && own.leave_out_long() {
            needed -= 1;
        }
        if needed > 1 && own.has_long() {
            return Ok(None);
        }
        let share = REPEATED.powi(needed as i32 - 1);
        Ok((cost(own, share) <= WORSE * chosen.cost).then_some(needed))
    }

    /// Looks up all own values, as far as that was not done, and plans by the lengths of their lists.
    ///
    /// Errors: out of memory; a damaged page.
    fn plan_by_lists(
        &mut self,
        segment: &Segment,
        steps: &SearchSteps,
        query: &Query,
        within: &Within,
        pages: &mut impl Pages,
    ) -> Result<SearchPlan> {
        let own = &mut self.space.own;
        let chunks = segment.postings.len();
        own.clear();
        own.narrow = within.share < 1.0;
        own.look_up(segment, query, 0..chunks, &within.rows, pages)?;
        let mut lengths = [0; MAX_CHUNKS];
        for list in &own.found {
            lengths[list.chunk] = list.len;
        }
        let order = &mut self.space.order;
        Ok(steps.plan_with(segment, query, within, &lengths[..chunks], order))
    }

    /// Finds the candidates within these radii, which have to be in `needed` lists: where that is more than one, no
    /// radius is greater than 0 and all lists are kept.
    ///
    /// Errors: out of memory; a damaged page.
    fn probe(
        &mut self,
        segment: &Segment,
        query: &Query,
        chosen: &SearchPlan,
        radii: &Radii,
        needed: usize,
        pages: &mut impl Pages,
    ) -> Result<()> {
        let candidates = &mut self.candidates;
        // more than that, and the scan would have been cheaper
        let most = (chosen.probed.len() / 16).max(64);
        let mut known = [false; MAX_CHUNKS];
        for list in &self.space.own.found {
            let Some(rows) = self.space.own.rows(list) else {
                continue;
            };
            if radii[list.chunk] == 1 {
                known[list.chunk] = true;
                let within = |row: &&u32| chosen.probed.contains(row);
                candidates.extend(rows.iter().filter(within));
            }
        }
        for (i, postings) in segment.postings.iter().enumerate() {
            if radii[i] == 0 || known[i] {
                continue;
            }
            let probe = Probe {
                postings,
                within: chosen.probed.clone(),
                waiting: &mut self.space.waiting,
                out: candidates,
            };
            let value = postings.chunk.value(query.words());
            probe.around(pages, value, u32::from(radii[i]) - 1)?;
            if candidates.len() > most {
                sort_distinct(candidates, &mut Ticker::new(|| pages.tick()));
            }
            if candidates.len() > most {
                self.scanned = chosen.probed.start..chosen.scanned.end;
                candidates.clear();
                return Ok(());
            }
        }
        if needed > 1 {
            sort(candidates, &mut Ticker::new(|| pages.tick()));
            keep_repeated(candidates, needed);
        } else {
            sort_distinct(candidates, &mut Ticker::new(|| pages.tick()));
        }
        Ok(())
    }

    /// Begins to look at every row of the segment, or of a key, by `PageWork::Range`.
    pub fn start_everything(&mut self, segment: &Segment, key: Option<u32>) {
        self.candidates.clear();
        (self.done, self.awaited) = (0, 0);
        self.scanned = segment.rows_of(key);
    }

    /// Rows that the chunks gave.
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// Candidates that there is memory for.
    pub fn room(&self) -> usize {
        self.candidates.capacity()
    }

    /// Has the pages of the next candidates on their way.
    pub fn prefetch(&mut self, segment: &Segment, pages: &mut impl Pages) {
        let geometry = &segment.geometry;
        let capacity = geometry.capacity as u32;
        let to = (self.done + AHEAD).min(self.candidates.len());
        for &row in self.candidates.get(self.awaited..to).unwrap_or_default() {
            pages.prefetch(
                row / capacity,
                &geometry.words_of((row % capacity) as usize),
            );
        }
        self.awaited = self.awaited.max(to);
        // Behind the page that is scanned next. A processor follows addresses that ascend no further than to the end of
        // a page of memory.
        let page = self.scanned.start / capacity + 1;
        if self.done == self.candidates.len() && page * capacity < self.scanned.end {
            let lines = geometry.tids_at().div_ceil(LINES[1]);
            pages.prefetch(page, &LINES[..lines.min(LINES.len())]);
        }
    }

    /// The next page to look at, and what for; `None` at the end.
    pub fn next(&mut self, segment: &Segment) -> Option<(u32, PageWork<'_>)> {
        let capacity = segment.geometry.capacity as u32;
        if let Some(&row) = self.candidates.get(self.done) {
            let page = row / capacity;
            let rest = &self.candidates[self.done..];
            let n = rest.partition_point(|&row| row < (page + 1) * capacity);
            self.done += n;
            return Some((page, PageWork::Rows(&rest[..n])));
        }
        if self.scanned.is_empty() {
            return None;
        }
        let page = self.scanned.start / capacity;
        let from = self.scanned.start % capacity;
        let to = (self.scanned.end - page * capacity).min(capacity);
        self.scanned.start = page * capacity + to;
        Some((page, PageWork::Range(from as usize, to as usize)))
    }
}

/// Leaves of sorted numbers those that are there `needed` times at least, once each.
fn keep_repeated(numbers: &mut Vec<u32>, needed: usize) {
    let mut kept = 0;
    for i in 0..(numbers.len() + 1).saturating_sub(needed) {
        let number = numbers[i];
        if numbers[i + needed - 1] == number && (kept == 0 || numbers[kept - 1] != number) {
            numbers[kept] = number;
            kept += 1;
        }
    }
    numbers.truncate(kept);
}

// The lists of a query's own values: how many rows agree with it in each chunk. A row that is equal to the query is in
// all of them, so the shortest says how many there can be.

/// Pages of a list that are looked at where a guess will do.
const PAGES: usize = 3;

/// How many rows of a segment nearly equal the query, as far as `wanted` of the lists tell: of the rows with about as
/// many bits, those that agree with it in the chunk where that says most. No fewer are equal to it, and mostly no more
/// are near. Lists that take more than [`PAGES`] pages are guessed. Where no more than `few` are left, no more is read.
///
/// Errors: a damaged page.
pub fn rows_alike(
    segment: &Segment,
    query: &Query,
    wanted: usize,
    few: u32,
    pages: &mut impl Pages,
) -> Result<u32> {
    let near = query
        .window()
        .map_or(0..0, |(lo, hi)| segment.range(lo, hi));
    // those first in which rows of the segment agree with the fewest others
    let mut chunks: Vec<&Postings> = segment.postings.iter().collect();
    chunks.sort_unstable_by(|a, b| a.expected[0].total_cmp(&b.expected[0]));
    let mut alike = near.len() as u32;
    for p in chunks.into_iter().take(wanted) {
        if alike <= few {
            break;
        }
        let value = p.chunk.value(query.words());
        let mut numbers = p.pages(value);
        let wide = numbers.len();
        let here = if wide > PAGES {
            let share = (wide - 1) as f64 / p.fences.len() as f64;
            (share * near.len() as f64) as u32
        } else {
            numbers.try_fold(0, |sum, number| {
                let page = p.page(number, pages.page(number)?)?;
                let list = page.find(value).map_err(|e| e.on_page(number))?;
                Ok(sum + list.count_within(near.clone()) as u32)
            })?
        };
        alike = alike.min(here);
    }
    pages.release();
    Ok(alike)
}

#[cfg(test)]
mod tests {
    use super::keep_repeated;

    #[test]
    fn numbers_are_kept_that_are_repeated() {
        let all = [1, 2, 2, 4, 4, 4, 7, 7, 9, 9, 9, 9];
        for (needed, expected) in [
            (1, &[1, 2, 4, 7, 9][..]),
            (2, &[2, 4, 7, 9]),
            (3, &[4, 9]),
            (4, &[9]),
            (5, &[]),
            (20, &[]),
        ] {
            let mut numbers = all.to_vec();
            keep_repeated(&mut numbers, needed);
            assert_eq!(numbers, expected, "{needed}");
        }
    }
}
