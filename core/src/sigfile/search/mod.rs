//! Searching one segment: candidates from the chunks, then the rows themselves.

mod lists;
mod work;

use std::ops::Range;

use self::lists::{OwnLists, Probe};
use super::budget::{SearchPlan, Steps};
use super::chunk::MAX_CHUNKS;
use super::pages::Pages;
use super::query::Query;
use super::segment::Segment;
use crate::sort::sort_distinct;
use crate::tick::Ticker;
use crate::Result;

pub use work::PageWork;

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

/// How many times more than expected the lists of a search may cost that has looked up no more than it needs.
const WORSE: f64 = 2.0;

/// The chunks' radii, for each one more.
type Radii = [u16; MAX_CHUNKS];

impl Search {
    /// Reads posting lists as far as that is cheaper than scanning. `steps` are those of the segment.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn start(
        &mut self,
        segment: &Segment,
        steps: &Steps,
        query: &Query,
        pages: &mut impl Pages,
    ) -> Result<()> {
        self.candidates.clear();
        (self.done, self.awaited) = (0, 0);
        let chosen = steps.plan(segment, query);
        self.scanned = chosen.scanned.clone();
        if chosen.steps == 0 {
            return Ok(());
        }
        self.space.own.clear();
        if chosen.steps <= steps.first().count()
            && self.choose_lists(segment, steps, query, &chosen, pages)?
        {
            let mut radii = [0; MAX_CHUNKS];
            for list in &self.space.own.found[..chosen.steps] {
                radii[list.chunk] = 1;
            }
            return self.probe(segment, query, &chosen, &radii, pages);
        }
        let chosen = self.plan_by_lists(segment, steps, query, pages)?;
        self.scanned = chosen.scanned.clone();
        let mut radii = [0; MAX_CHUNKS];
        for &chunk in &self.space.order[..chosen.steps] {
            radii[usize::from(chunk)] += 1;
        }
        self.probe(segment, query, &chosen, &radii, pages)
    }

    /// Looks up own values in the chunks that the plan wants, and in more of them as long as that costs less than can be spared by
    /// leaving out the longest list. What is to be read comes first then. False if it is much more than expected.
    ///
    /// Errors: out of memory; a damaged page.
    fn choose_lists(
        &mut self,
        segment: &Segment,
        steps: &Steps,
        query: &Query,
        chosen: &SearchPlan,
        pages: &mut impl Pages,
    ) -> Result<bool> {
        let own = &mut self.space.own;
        let (wanted, within) = (chosen.steps, &chosen.probed);
        let mut chunks = steps.first();
        own.look_up(segment, query, chunks.by_ref().take(wanted), within, pages)?;
        let candidate = steps.costs().candidate;
        for chunk in chunks {
            let longest = (0..wanted).max_by_key(|&i| own.found[i].len).unwrap_or(0);
            let spared = f64::from(own.found[longest].len) * candidate;
            if spared <= steps.expected(segment, chunk, 0) {
                break;
            }
            own.look_up(segment, query, std::iter::once(chunk), within, pages)?;
            let last = own.found.len() - 1;
            if own.found[last].len < own.found[longest].len {
                own.found.swap(longest, last);
            }
        }
        let rows: u32 = own.found[..wanted].iter().map(|list| list.len).sum();
        Ok(f64::from(rows) * candidate <= WORSE * chosen.cost)
    }

    /// Looks up all own values, as far as that was not done, and plans by the lengths of their lists.
    ///
    /// Errors: out of memory; a damaged page.
    fn plan_by_lists(
        &mut self,
        segment: &Segment,
        steps: &Steps,
        query: &Query,
        pages: &mut impl Pages,
    ) -> Result<SearchPlan> {
        let own = &mut self.space.own;
        let chunks = segment.postings.len();
        let (lo, hi) = query.window().unwrap_or((1, 0));
        own.clear();
        own.look_up(segment, query, 0..chunks, &segment.range(lo, hi), pages)?;
        let mut lengths = [0; MAX_CHUNKS];
        for list in &own.found {
            lengths[list.chunk] = list.len;
        }
        let order = &mut self.space.order;
        Ok(steps.plan_with(segment, query, &lengths[..chunks], order))
    }

    /// Finds the candidates within these radii.
    ///
    /// Errors: out of memory; a damaged page.
    fn probe(
        &mut self,
        segment: &Segment,
        query: &Query,
        chosen: &SearchPlan,
        radii: &Radii,
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
        sort_distinct(candidates, &mut Ticker::new(|| pages.tick()));
        Ok(())
    }

    /// Begins to look at every row of the segment, by `PageWork::Range`.
    pub fn start_everything(&mut self, segment: &Segment) {
        self.candidates.clear();
        (self.done, self.awaited) = (0, 0);
        self.scanned = 0..segment.rows;
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
