//! Joining a segment with rows: all rows of it that are similar to one row after the other, as quickly as many of
//! them can be searched.
//!
//! A search by itself looks at each candidate's row page, which costs more than all else. Here the rows' bits are
//! kept folded to 128: folding is bits of a row combined by exclusive or, so two rows differ in at least as many
//! bits as their folds do. What agrees in a chunk by chance differs in about half of its folded bits, and is
//! dropped without a look at its row. And many rows are searched for at a time, value
//! by value. A million records of 581 bits, each searched at 0.85 for those that come after it, in the server: 160 µs a
//! record as searches, 40 with folds, 22 with folds by value.

use std::ops::Range;

use super::budget::{step, Costs};
use super::query::Query;
use super::segment::{Postings, Segment};
use super::Pages;
use crate::bits::{fold, Fold, FoldFilter};
use crate::sort::{sort, sort_distinct};
use crate::tick::Ticker;
use crate::{Error, Result};

/// Nanoseconds, measured on warm buffers; only their ratios matter.
pub const COSTS: Costs = Costs {
    probe: 80.0,
    candidate: 8.0,
    scan_word: 0.0,
    scan_row: 1.5,
};

/// The same where folds tell little apart: rows are compared themselves.
const COSTS_UNFOLDED: Costs = Costs {
    probe: 80.0,
    candidate: 60.0,
    scan_word: 0.12,
    scan_row: 0.3,
};

/// Folds are of no use where more than this share of rows with nothing in common pass: a row that passes costs as much to look
/// at as thirty to scan.
const PASSING: f64 = 0.01;

/// Words of rows that are compared with one row after the other: they stay in the processor's cache.
const BLOCK_WORDS: usize = 1 << 14;

/// Rows of a segment, folded.
#[derive(Debug)]
pub struct Folds {
    first: u32,
    folds: Vec<Fold>,
}

impl Folds {
    /// Bytes of memory a row.
    pub const ROW: usize = size_of::<Fold>();

    /// Of these rows, which have signatures.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn of(segment: &Segment, rows: Range<u32>, pages: &mut impl Pages) -> Result<Folds> {
        let mut folds = Vec::new();
        let n = rows.len();
        folds
            .try_reserve_exact(n)
            .map_err(|_| Error::out_of_memory(Folds::ROW * n))?;
        let geometry = segment.geometry;
        let capacity = geometry.capacity as u32;
        let mut next = rows.start;
        while next < rows.end {
            let page = next / capacity;
            let (from, to) = (next % capacity, (rows.end - page * capacity).min(capacity));
            let content = segment.row_page(page, pages.page(page)?)?;
            let words = content.words(from as usize, to as usize);
            folds.extend(words.chunks_exact(geometry.stride).map(fold));
            next = page * capacity + to;
            pages.tick();
        }
        pages.release();
        Ok(Folds {
            first: rows.start,
            folds,
        })
    }

    pub fn rows(&self) -> Range<u32> {
        self.first..self.first + self.folds.len() as u32
    }

    /// From how many bits on, in which rows may differ, folds let too many pass.
    fn weak_from(&self) -> u32 {
        const PAIRS: usize = 512;
        let n = self.folds.len();
        if n < 2 {
            return 0;
        }
        let differ = |i: usize| {
            let (a, b) = (&self.folds[i % n], &self.folds[(i + n / 2) % n]);
            (a[0] ^ b[0]).count_ones() + (a[1] ^ b[1]).count_ones()
        };
        let mut sample: Vec<u32> = (0..PAIRS).map(|i| differ(i * n / PAIRS)).collect();
        let at = (PASSING * PAIRS as f64) as usize;
        *sample.select_nth_unstable(at).1
    }
}

/// Some rows of a segment, side by side.
#[derive(Default)]
struct RowBlock {
    words: Vec<u64>,
    popcounts: Vec<u32>,
    tids: Vec<u64>,
}

impl RowBlock {
    /// Errors: a damaged page; out of memory.
    fn read(
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

/// Rows that are searched for, in the order of their popcounts.
#[derive(Debug, Default)]
pub struct Batch {
    words: Vec<u64>,
    rows: Vec<BatchRow>,
}

/// What is known of a row that is searched for.
#[derive(Clone, Debug)]
struct BatchRow {
    popcount: u32,
    /// Rows that can be similar, by number.
    rows: Range<u32>,
    /// Of these, those from here on are scanned.
    scanned: u32,
    /// Least and greatest popcount that can be similar.
    window: (u32, u32),
    /// The greatest number of bits that a similar row differs in.
    limit: u32,
    fold: Fold,
}

impl BatchRow {
    fn costs(&self, weak_from: u32) -> &'static Costs {
        if self.limit >= weak_from {
            &COSTS_UNFOLDED
        } else {
            &COSTS
        }
    }

    fn filter<'a>(&'a self, folds: &'a Folds) -> FoldFilter<'a> {
        FoldFilter {
            folds: &folds.folds,
            first: folds.first,
            fold: &self.fold,
            limit: self.limit,
        }
    }
}

impl Batch {
    pub fn clear(&mut self) {
        self.words.clear();
        self.rows.clear();
    }

    /// Adds a row, to be searched for among the rows from number `from` on.
    pub fn push(&mut self, words: &[u64], popcount: u32, from: u32) {
        self.words.extend_from_slice(words);
        self.rows.push(BatchRow {
            popcount,
            rows: from..u32::MAX,
            scanned: from,
            window: (0, 0),
            limit: 0,
            fold: fold(words),
        });
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn words(&self, i: usize) -> &[u64] {
        let stride = self.words.len() / self.rows.len();
        &self.words[i * stride..(i + 1) * stride]
    }
}

/// Searches one segment for many rows at a time. Values are looked up in their order, so that those of one posting page come
/// together: looked up row by row, most of the time would go by waiting for memory.
pub struct Joiner<'a> {
    segment: &'a Segment,
    folds: &'a Folds,
    query: Query,
    /// For each row of the batch and each chunk: how many rows have the same value; the radius.
    own: Vec<u32>,
    radii: Vec<i8>,
    /// For the row being planned: what the next step of each chunk costs, the steps in their order.
    next: Vec<f64>,
    order: Vec<u16>,
    /// Values to look up, and for which row of the batch: value · 2^32 + row.
    probes: Vec<u64>,
    near: Vec<u32>,
    /// Row of the batch · 2^32 + row that may be similar to it.
    candidates: Vec<u64>,
    /// What was found among some candidates.
    hits: Vec<(usize, u64, f64)>,
    /// Rows of a batch whose candidates are collected together.
    at_once: usize,
    /// From how many bits on, in which rows may differ, folds are of no use.
    weak_from: u32,
    block: RowBlock,
}

/// Probes that are collected before they are sorted.
const PROBES: usize = 1 << 18;

/// Candidates above which fewer rows are searched for at once.
const CANDIDATES: usize = 1 << 21;

/// Rows that are scanned, and candidates that are looked at, before what is found is passed on.
const SCANNED: u32 = 1 << 16;
const VERIFIED: usize = 1 << 10;

impl<'a> Joiner<'a> {
    /// Rows outside of `folds` are not found. Any threshold will do; NaN finds nothing.
    pub fn new(segment: &'a Segment, folds: &'a Folds, threshold: f64) -> Joiner<'a> {
        let geometry = &segment.geometry;
        Joiner {
            segment,
            folds,
            query: Query::new(geometry, &vec![0; geometry.stride], threshold),
            own: Vec::new(),
            radii: Vec::new(),
            next: Vec::new(),
            order: Vec::new(),
            probes: Vec::new(),
            near: Vec::new(),
            candidates: Vec::new(),
            hits: Vec::new(),
            at_once: usize::MAX >> 1,
            weak_from: folds.weak_from(),
            block: RowBlock::default(),
        }
    }

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
        self.find_windows(pages, batch);
        let mut from = 0;
        while from < batch.len() {
            let some = from..(from + self.at_once).min(batch.len());
            self.candidates.clear();
            self.plan(pages, batch, some.clone())?;
            if !self.probe(pages, batch, some.clone())? {
                self.at_once = (some.len() / 2).max(1);
                continue;
            }
            self.verify(pages, batch, &mut hit)?;
            self.compare(pages, batch, some.clone(), &mut hit)?;
            for i in some.clone() {
                let asked = &batch.rows[i];
                if asked.limit >= self.weak_from {
                    continue;
                }
                let mut rest = asked.scanned..asked.rows.end;
                while !rest.is_empty() {
                    let end = rest.end.min(rest.start + SCANNED);
                    self.near.clear();
                    self.candidates.clear();
                    let filter = asked.filter(self.folds);
                    filter.all(rest.start..end, &mut self.near)?;
                    keep(&mut self.candidates, i, &self.near)?;
                    self.verify(pages, batch, &mut hit)?;
                    pages.tick();
                    rest.start = end;
                }
            }
            from = some.end;
        }
        Ok(())
    }

    /// Scans the rows themselves for those rows of the batch for which folds are of no use.
    fn compare<P: Pages>(
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
    fn verify<P: Pages>(
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
            let Some((lo, hi)) = self.query.window() else {
                asked.rows = 0..0;
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

    /// Chooses radii, as budget::plan, but that own values are looked up in any case, and cost their rows only.
    fn plan(
        &mut self,
        pages: &mut impl Pages,
        batch: &mut Batch,
        some: Range<usize>,
    ) -> Result<()> {
        let segment = self.segment;
        let chunks = segment.postings.len();
        let base = some.start;
        for asked in &mut batch.rows[some.clone()] {
            asked.scanned = asked.rows.start;
        }
        self.radii.clear();
        self.radii.resize(some.len() * chunks, -1);
        self.own.clear();
        self.own.resize(some.len() * chunks, 0);
        if self.query.threshold() <= 0.0 {
            return Ok(());
        }
        let (stride, weak_from) = (segment.geometry.stride, self.weak_from);
        let worth_it = |asked: &BatchRow| {
            let costs = asked.costs(weak_from);
            let scan = costs.scan(asked.rows.len() as u32, stride);
            scan >= chunks as f64 * costs.probe && chunks > 0
        };
        for (chunk, postings) in segment.postings.iter().enumerate() {
            self.probes.clear();
            for i in some.clone() {
                if worth_it(&batch.rows[i]) {
                    let value = postings.chunk.value(batch.words(i));
                    self.probes.push(u64::from(value) << 32 | i as u64);
                }
            }
            sort(&mut self.probes, &mut Ticker::new(|| pages.tick()));
            for &probe in &self.probes {
                let (value, i) = ((probe >> 32) as u32, probe as u32 as usize);
                let mut length = 0;
                for number in postings.pages(value) {
                    let page = postings.page(number, pages.page(number)?)?;
                    let list = page.find(value).map_err(|e| e.on_page(number))?;
                    length += list.count_within(batch.rows[i].rows.clone());
                    pages.tick();
                }
                self.own[(i - base) * chunks + chunk] = length as u32;
            }
        }
        for i in some {
            pages.tick();
            if !worth_it(&batch.rows[i]) {
                continue;
            }
            self.query.replace(batch.words(i), batch.rows[i].popcount);
            let scanned = self.plan_one(i - base, &batch.rows[i]);
            batch.rows[i].scanned = scanned;
        }
        Ok(())
    }

    /// Chooses radii for the row `i` of those that are searched for at once; returns from where on is scanned.
    fn plan_one(&mut self, i: usize, asked: &BatchRow) -> u32 {
        let segment = self.segment;
        let chunks = segment.postings.len();
        let own = &self.own[i * chunks..(i + 1) * chunks];
        let rows = &asked.rows;
        let costs = asked.costs(self.weak_from);
        let scan = |rows: u32| costs.scan(rows, segment.geometry.stride);
        let cost = |chunk: usize, radius: u32| match radius {
            0 => f64::from(own[chunk]) * costs.candidate,
            _ => step(segment, chunk, radius, Some(own[chunk]), costs),
        };
        let radii = &mut self.radii[i * chunks..(i + 1) * chunks];
        self.next.clear();
        self.next.extend((0..chunks).map(|chunk| cost(chunk, 0)));
        self.order.clear();
        let (mut spent, mut steps, mut widest, mut chosen) = (0.0, 0, 0, 0);
        let mut best = (scan(rows.len() as u32), rows.start);
        let first = segment.popcount_of(rows.start);
        'popcounts: for popcount in first..=asked.window.1 {
            let end = segment.first[popcount as usize + 1].min(rows.end);
            if end <= rows.start || end == segment.first[popcount as usize].min(rows.end) {
                continue;
            }
            widest = widest.max(self.query.radius(popcount));
            while steps < widest + 1 {
                let mut least = 0;
                for (chunk, cost) in self.next.iter().enumerate() {
                    if *cost < self.next[least] {
                        least = chunk;
                    }
                }
                spent += self.next[least];
                if spent >= best.0 || radii[least] == i8::MAX {
                    break 'popcounts;
                }
                radii[least] += 1;
                self.next[least] = cost(least, radii[least] as u32 + 1);
                self.order.push(least as u16);
                steps += 1;
            }
            let cost = spent + scan(rows.end - end);
            if cost < best.0 {
                best = (cost, end);
                chosen = self.order.len();
            }
        }
        radii.fill(-1);
        for &chunk in &self.order[..chosen] {
            radii[chunk as usize] += 1;
        }
        best.1
    }

    /// Collects what the chunks give; false if that is too much.
    fn probe(&mut self, pages: &mut impl Pages, batch: &Batch, some: Range<usize>) -> Result<bool> {
        let chunks = self.segment.postings.len();
        // fewer rows than one are not possible
        let most = if some.len() > 1 {
            CANDIDATES
        } else {
            usize::MAX
        };
        for (chunk, postings) in self.segment.postings.iter().enumerate() {
            self.probes.clear();
            for i in some.clone() {
                let radius = self.radii[(i - some.start) * chunks + chunk];
                if radius < 0 {
                    continue;
                }
                let value = postings.chunk.value(batch.words(i));
                if !self.collect(pages, postings, batch, value, i, radius as u32, most)? {
                    return Ok(false);
                }
            }
            if !self.look_up(pages, postings, batch, most)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the values that differ from `value` in at most `radius` bits to the probes, which are looked up when they are many:
    /// false if that gives too much.
    #[allow(clippy::too_many_arguments)]
    fn collect(
        &mut self,
        pages: &mut impl Pages,
        postings: &Postings,
        batch: &Batch,
        value: u32,
        i: usize,
        radius: u32,
        most: usize,
    ) -> Result<bool> {
        let mut flips = Flips::new(postings.chunk.width, radius);
        while let Some(flip) = flips.next() {
            if self.probes.len() == PROBES && !self.look_up(pages, postings, batch, most)? {
                return Ok(false);
            }
            self.probes.push(u64::from(value ^ flip) << 32 | i as u64);
        }
        Ok(true)
    }

    /// False if there are more than `most` candidates.
    fn look_up(
        &mut self,
        pages: &mut impl Pages,
        postings: &Postings,
        batch: &Batch,
        most: usize,
    ) -> Result<bool> {
        let mut probes = std::mem::take(&mut self.probes);
        let mut near = std::mem::take(&mut self.near);
        sort(&mut probes, &mut Ticker::new(|| pages.tick()));
        for &probe in &probes {
            let (value, i) = ((probe >> 32) as u32, probe as u32 as usize);
            let asked = &batch.rows[i];
            near.clear();
            for number in postings.pages(value) {
                let page = postings.page(number, pages.page(number)?)?;
                let list = page.find(value).map_err(|e| e.on_page(number))?;
                if !list.is_empty() {
                    let rows = asked.rows.start..asked.scanned;
                    let list = list.about(rows.clone());
                    let filter = asked.filter(self.folds);
                    filter.list(list.bytes(), rows, &mut near)?;
                }
                pages.tick();
            }
            keep(&mut self.candidates, i, &near)?;
            if self.candidates.len() > most {
                sort_candidates(&mut self.candidates, pages);
                if self.candidates.len() > most / 2 {
                    return Ok(false);
                }
            }
        }
        probes.clear();
        (self.probes, self.near) = (probes, near);
        Ok(true)
    }
}

/// Puts candidates in order, each once.
fn sort_candidates(candidates: &mut Vec<u64>, pages: &mut impl Pages) {
    sort_distinct(candidates, &mut Ticker::new(|| pages.tick()));
}

/// Adds candidates of row `i` of a batch.
#[inline]
fn keep(candidates: &mut Vec<u64>, i: usize, near: &[u32]) -> Result<()> {
    candidates
        .try_reserve(near.len())
        .map_err(|_| Error::out_of_memory(8 * near.len()))?;
    candidates.extend(near.iter().map(|&row| (i as u64) << 32 | u64::from(row)));
    Ok(())
}

/// The numbers of `width` bits of which at most `radius` are set.
struct Flips {
    width: u32,
    radius: u32,
    next: Option<u32>,
}

impl Flips {
    fn new(width: u32, radius: u32) -> Flips {
        Flips {
            width,
            radius: radius.min(width),
            next: Some(0),
        }
    }

    fn next(&mut self) -> Option<u32> {
        let this = self.next?;
        let set = this.count_ones();
        // the next number with as many bits set (Gosper), or the least with one more
        let low = this & this.wrapping_neg();
        let more = u64::from(this) + u64::from(low);
        let following = match this {
            0 => None,
            _ => Some(more | ((u64::from(this) ^ more) / u64::from(low)) >> 2),
        };
        self.next = match following.filter(|&n| n < 1 << self.width) {
            Some(n) => Some(n as u32),
            None if set < self.radius => Some(((1u64 << (set + 1)) - 1) as u32),
            None => None,
        };
        Some(this)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_are_all_numbers_with_few_bits() {
        for width in [1, 5, 13, 32] {
            for radius in 0..=3 {
                let mut flips = Flips::new(width, radius);
                let mut found: Vec<u32> = std::iter::from_fn(|| flips.next()).collect();
                let n = found.len();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found.len(), n);
                let expected: u64 = (0..=u64::from(radius.min(width)))
                    .map(|k| (0..k).fold(1, |c, i| c * (u64::from(width) - i) / (i + 1)))
                    .sum();
                assert_eq!(n as u64, expected);
                assert!(found
                    .iter()
                    .all(|f| u64::from(*f) < 1 << width && f.count_ones() <= radius));
            }
        }
    }
}
