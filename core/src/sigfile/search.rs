//! Searching one segment: candidates from the chunks, then the rows themselves.

pub mod own;

use std::ops::Range;

use self::own::DIRECTORY;
use super::budget::{plan, Costs, SearchPlan};
use super::pages::Pages;
use super::query::Query;
use super::rows::RowPage;
use super::segment::{Postings, Segment};
use crate::sort::sort_distinct;
use crate::tick::Ticker;
use crate::{Error, Result};

/// What is left to look at: rows by number, ascending.
#[derive(Debug)]
pub struct Search {
    plan: SearchPlan,
    candidates: Vec<u32>,
    /// Candidates already looked at.
    done: usize,
    /// Candidates whose pages are on their way.
    awaited: usize,
    scanned: Range<u32>,
}

/// Rows of one page that a search has to look at.
#[derive(Debug, PartialEq)]
pub enum PageWork<'a> {
    /// These rows, by number in the segment.
    Rows(&'a [u32]),
    /// Rows of the page, by number on it.
    Range(usize, usize),
}

/// Candidates whose pages are on their way at once.
const AHEAD: usize = 8;

/// Values that wait for their pages.
const WAITING: usize = 32;

/// Looks up values of one chunk; neighbouring values are mostly on one page.
struct Probe<'a> {
    postings: &'a Postings,
    range: Range<u32>,
    waiting: Vec<(u32, Range<u32>)>,
    out: &'a mut Vec<u32>,
}

impl Probe<'_> {
    fn look_up(&mut self, pages: &mut impl Pages, value: u32) -> Result<()> {
        let numbers = self.postings.pages(value);
        if self.waiting.last().is_none_or(|(_, last)| *last != numbers) {
            if let Some(first) = numbers.clone().next() {
                pages.prefetch(first, &DIRECTORY);
            }
        }
        self.waiting.push((value, numbers));
        if self.waiting.len() == WAITING {
            self.read(pages)?;
        }
        Ok(())
    }

    /// Reads the lists of the values that wait.
    fn read(&mut self, pages: &mut impl Pages) -> Result<()> {
        for (value, numbers) in self.waiting.drain(..) {
            for number in numbers {
                let page = self.postings.page(number, pages.page(number)?)?;
                let list = page.find(value).map_err(|e| e.on_page(number))?;
                if list.is_empty() {
                    continue;
                }
                self.out
                    .try_reserve(list.len())
                    .map_err(|_| Error::out_of_memory(4 * list.len()))?;
                let range = self.range.clone();
                self.out
                    .extend(list.rows().filter(|row| range.contains(row)));
                pages.tick();
            }
        }
        Ok(())
    }

    /// The values that differ from `value` in at most `radius` of the lowest `bits` bits; the
    /// high bits are flipped first, so that values close to each other follow each other.
    fn neighbours(
        &mut self,
        pages: &mut impl Pages,
        value: u32,
        bits: u32,
        radius: u32,
    ) -> Result<()> {
        if radius == 0 || bits == 0 {
            return self.look_up(pages, value);
        }
        self.neighbours(pages, value, bits - 1, radius)?;
        pages.tick();
        self.neighbours(pages, value ^ 1 << (bits - 1), bits - 1, radius - 1)
    }
}

impl Search {
    /// Reads posting lists as far as that is cheaper than scanning.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn start(
        segment: &Segment,
        query: &Query,
        costs: &Costs,
        pages: &mut impl Pages,
    ) -> Result<Search> {
        let mut chosen = plan(segment, query, None, costs);
        if !chosen.radii.is_empty() {
            let own = own::lengths(segment, query, pages)?;
            chosen = plan(segment, query, Some(&own), costs);
        }
        let mut candidates = Vec::new();
        let mut scanned = chosen.scanned.clone();
        // more than that, and the scan would have been cheaper
        let most = (chosen.probed.len() / 16).max(64);
        for (postings, &radius) in segment.postings.iter().zip(&chosen.radii) {
            if radius < 0 {
                continue;
            }
            let mut probe = Probe {
                postings,
                range: chosen.probed.clone(),
                waiting: Vec::with_capacity(WAITING),
                out: &mut candidates,
            };
            let chunk = postings.chunk;
            let value = chunk.value(query.words());
            probe.neighbours(pages, value, chunk.width, radius as u32)?;
            probe.read(pages)?;
            if candidates.len() > most {
                sort_distinct(&mut candidates, &mut Ticker::new(|| pages.tick()));
            }
            if candidates.len() > most {
                scanned = chosen.probed.start..chosen.scanned.end;
                candidates = Vec::new();
                break;
            }
        }
        sort_distinct(&mut candidates, &mut Ticker::new(|| pages.tick()));
        Ok(Search {
            plan: chosen,
            candidates,
            done: 0,
            awaited: 0,
            scanned,
        })
    }

    /// Every row of the segment, by `PageWork::Range`.
    pub fn everything(segment: &Segment) -> Search {
        let plan = SearchPlan {
            radii: Vec::new(),
            probed: 0..0,
            scanned: 0..segment.rows,
            cost: 0.0,
        };
        Search {
            scanned: plan.scanned.clone(),
            plan,
            candidates: Vec::new(),
            done: 0,
            awaited: 0,
        }
    }

    /// How it is done.
    pub fn plan(&self) -> &SearchPlan {
        &self.plan
    }

    /// Rows that the chunks gave.
    pub fn candidates(&self) -> usize {
        self.candidates.len()
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

impl PageWork<'_> {
    /// Calls `hit` with number on the page and common bits of every row that reaches the
    /// threshold, ascending. `of` is the segment that the page belongs to, and its number there.
    ///
    /// Errors: a row that cannot be: a popcount where it does not belong is noticed in every row that is looked at, what does not fit the
    /// bits in those that are found.
    pub fn run(
        &self,
        page: &RowPage<'_>,
        of: Option<(&Segment, u32)>,
        query: &Query,
        mut hit: impl FnMut(usize, u32),
    ) -> Result<()> {
        let mut wrong = None;
        let mut check = |i: usize, common: u32| match page.checked(i) {
            Ok(_) => hit(i, common),
            Err(e) => {
                wrong.get_or_insert(e);
            }
        };
        match *self {
            PageWork::Range(from, to) => {
                let to = to.min(page.len());
                if let Some((segment, number)) = of {
                    segment.check_popcounts(number, page, from, to)?;
                }
                query.scan(page, from, to, check);
            }
            PageWork::Rows(rows) => {
                let capacity = page.geometry().capacity;
                for &row in rows {
                    let i = row as usize % capacity;
                    let popcount = match of {
                        Some((segment, number)) => segment.popcount_on(number, page, i)?,
                        None => page.checked(i)?.popcount,
                    };
                    if let Some(common) = query.hit(page.words(i, i + 1), popcount) {
                        check(i, common);
                    }
                }
            }
        }
        match (wrong, of) {
            (None, _) => Ok(()),
            (Some(e), Some((_, number))) => Err(e.on_page(number)),
            (Some(e), None) => Err(e),
        }
    }
}
