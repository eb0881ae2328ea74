//! Joining a segment with rows: all rows of it that are similar to one row after the other, as quickly as many of
//! them can be searched.
//!
//! A search by itself looks at each candidate's row page, which costs more than all else. Here the rows' bits are
//! kept folded to 128: folding is bits of a row combined by exclusive or, so two rows differ in at least as many
//! bits as their folds do. What agrees in a chunk by chance differs in about half of its folded bits, and is
//! dropped without a look at its row. A million records of 581 bits, each searched at 0.85 for those that come after
//! it: 40 µs a record, 160 without folds.

use std::ops::Range;

use super::budget::{step, Costs};
use super::posting::PostingPage;
use super::query::Query;
use super::rows::RowPage;
use super::segment::{Postings, Segment};
use super::Pages;
use crate::similarity::{fold, Fold, FoldFilter};
use crate::{Error, Result};

/// Nanoseconds, measured on warm buffers; only their ratios matter.
pub const COSTS: Costs = Costs {
    probe: 80.0,
    candidate: 8.0,
    scan_word: 0.0,
    scan_row: 1.5,
};

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
    /// Errors: out of memory.
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
            let content = RowPage::new(geometry, pages.page(page));
            let words = content.words(from as usize, to as usize);
            folds.extend(words.chunks_exact(geometry.stride).map(fold));
            next = page * capacity + to;
            pages.tick();
        }
        Ok(Folds {
            first: rows.start,
            folds,
        })
    }

    pub fn rows(&self) -> Range<u32> {
        self.first..self.first + self.folds.len() as u32
    }
}

/// Searches one segment for rows that come one after the other, best in the order of their bit counts.
pub struct Joiner<'a> {
    segment: &'a Segment,
    folds: &'a Folds,
    query: Query,
    /// Rows with the query's own value: for each chunk how many, and the rows themselves for as many as are kept.
    own: Vec<u32>,
    listed: Vec<u8>,
    /// Which bytes of `listed` are each chunk's; `None` where they are not kept.
    kept: Vec<Option<Range<usize>>>,
    /// For each bit count the greatest radius of the window up to it.
    widest: Vec<u32>,
    radii: Vec<i32>,
    next: Vec<f64>,
    order: Vec<u16>,
    near: Vec<u32>,
}

/// Longer lists are read again if they are needed.
const KEPT: usize = 256;

impl<'a> Joiner<'a> {
    /// Rows outside of `folds` are not found. Any threshold will do; NaN finds nothing.
    pub fn new(segment: &'a Segment, folds: &'a Folds, threshold: f64) -> Joiner<'a> {
        let geometry = &segment.geometry;
        Joiner {
            segment,
            folds,
            query: Query::new(geometry, &vec![0; geometry.stride], threshold),
            own: Vec::new(),
            listed: Vec::new(),
            kept: Vec::new(),
            widest: vec![0; geometry.bits as usize + 2],
            radii: Vec::new(),
            next: Vec::new(),
            order: Vec::new(),
            near: Vec::new(),
        }
    }

    /// Calls `hit` with page, number on it and similarity of each row from `from` on that reaches the threshold.
    ///
    /// Errors: out of memory.
    pub fn search<P: Pages>(
        &mut self,
        pages: &mut P,
        words: &[u64],
        count: u32,
        from: u32,
        mut hit: impl FnMut(&RowPage<'_>, usize, f64),
    ) -> Result<()> {
        let other = count != self.query.count();
        self.query.replace(words, count);
        let Some((lo, hi)) = self.query.window() else {
            return Ok(());
        };
        if other || self.widest[hi as usize] == 0 {
            let mut widest = 0;
            for count in lo..=hi {
                widest = widest.max(self.query.radius(count));
                self.widest[count as usize] = widest;
            }
        }
        let mut rows = self.segment.range(lo, hi);
        let here = self.folds.rows();
        rows.start = rows.start.max(from).max(here.start);
        rows.end = rows.end.min(here.end);
        if rows.is_empty() {
            return Ok(());
        }
        let fold = fold(words);
        self.near.clear();
        let probed = self.probe(pages, &fold, rows.clone(), hi)?;
        let filter = FoldFilter {
            folds: &self.folds.folds,
            first: here.start,
            fold: &fold,
            limit: self.widest[hi as usize],
        };
        filter.all(probed.end..rows.end, &mut self.near)?;
        self.near.sort_unstable();
        self.near.dedup();
        let geometry = self.segment.geometry;
        let capacity = geometry.capacity;
        for &row in &self.near {
            let page = RowPage::new(geometry, pages.page(row / capacity as u32));
            let i = row as usize % capacity;
            let count = page.counts()[i];
            if let Some(common) = self.query.hit(page.words(i, i + 1), count) {
                hit(&page, i, self.query.similarity(count, common));
            }
        }
        Ok(())
    }

    /// Collects what the chunks give of a first part of `rows`, as far as that is cheaper than scanning; returns that
    /// part.
    fn probe(
        &mut self,
        pages: &mut impl Pages,
        fold: &Fold,
        rows: Range<u32>,
        hi: u32,
    ) -> Result<Range<u32>> {
        let segment = self.segment;
        let none = rows.start..rows.start;
        let scan = |rows: u32| f64::from(rows) * COSTS.scan_row;
        let chunks = segment.postings.len();
        if chunks == 0
            || self.query.threshold() <= 0.0
            || scan(rows.len() as u32) < chunks as f64 * COSTS.probe
        {
            return Ok(none);
        }
        self.look_up_own(pages, rows.clone())?;
        // as budget::plan, but that own lists have been read already, and cost their rows only
        let cost = |i: usize, radius: u32| match radius {
            0 => f64::from(self.own[i]) * COSTS.candidate,
            _ => step(segment, i, radius, Some(self.own[i]), &COSTS),
        };
        self.radii.clear();
        self.radii.resize(chunks, -1);
        self.next.clear();
        self.next.extend((0..chunks).map(|i| cost(i, 0)));
        let (mut spent, mut steps) = (0.0, 0);
        let mut best = (scan(rows.len() as u32), none.end);
        let mut chosen = 0;
        self.order.clear();
        let mut widest = 0;
        let first = segment.count_of(rows.start);
        'counts: for count in first..=hi {
            let end = segment.first[count as usize + 1].min(rows.end);
            if end <= rows.start || (end == segment.first[count as usize].min(rows.end)) {
                continue;
            }
            widest = widest.max(self.query.radius(count));
            while steps < widest + 1 {
                let mut i = 0;
                for (k, cost) in self.next.iter().enumerate() {
                    if *cost < self.next[i] {
                        i = k;
                    }
                }
                spent += self.next[i];
                if spent >= best.0 {
                    break 'counts;
                }
                self.radii[i] += 1;
                self.next[i] = cost(i, self.radii[i] as u32 + 1);
                self.order.push(i as u16);
                steps += 1;
            }
            let cost = spent + scan(rows.end - end);
            if cost < best.0 {
                best = (cost, end);
                chosen = self.order.len();
            }
        }
        if best.1 == none.end {
            return Ok(none);
        }
        self.radii.fill(-1);
        for &i in &self.order[..chosen] {
            self.radii[i as usize] += 1;
        }
        let probed = rows.start..best.1;
        let filter = FoldFilter {
            folds: &self.folds.folds[..(probed.end - self.folds.first) as usize],
            first: self.folds.first,
            fold,
            limit: self.widest[hi as usize],
        };
        for i in 0..chunks {
            if self.radii[i] < 0 {
                continue;
            }
            let postings = &segment.postings[i];
            let value = postings.chunk.value(self.query.words());
            let near = &mut self.near;
            match &self.kept[i] {
                Some(bytes) => filter.list(&self.listed[bytes.clone()], near)?,
                None => look_up(postings, pages, value, probed.clone(), &filter, near)?,
            }
            let width = postings.chunk.width;
            let mut flipped = |pages: &mut _, value| {
                look_up(postings, pages, value, probed.clone(), &filter, near)
            };
            neighbours(
                pages,
                value,
                width,
                self.radii[i] as u32,
                false,
                &mut flipped,
            )?;
        }
        Ok(probed)
    }

    /// Looks up the lists of the query's own values.
    fn look_up_own(&mut self, pages: &mut impl Pages, rows: Range<u32>) -> Result<()> {
        self.own.clear();
        self.listed.clear();
        self.kept.clear();
        for postings in &self.segment.postings {
            let value = postings.chunk.value(self.query.words());
            let start = self.listed.len();
            let mut length = 0;
            for number in postings.pages(value) {
                let list = PostingPage::new(pages.page(number)).find(value);
                let list = list.within(rows.clone());
                length += list.len();
                if length <= KEPT {
                    self.listed.extend_from_slice(list.bytes());
                }
            }
            if length > KEPT {
                self.listed.truncate(start);
            }
            self.own.push(length as u32);
            self.kept
                .push((length <= KEPT).then_some(start..self.listed.len()));
        }
        Ok(())
    }
}

fn look_up(
    postings: &Postings,
    pages: &mut impl Pages,
    value: u32,
    rows: Range<u32>,
    filter: &FoldFilter<'_>,
    near: &mut Vec<u32>,
) -> Result<()> {
    for number in postings.pages(value) {
        let list = PostingPage::new(pages.page(number)).find(value);
        filter.list(list.within(rows.clone()).bytes(), near)?;
    }
    Ok(())
}

/// Calls `each` for the values that differ from `value` in 1 to `radius` of the lowest `bits` bits; `value` is itself
/// one if `flipped`.
fn neighbours<P: Pages>(
    pages: &mut P,
    value: u32,
    bits: u32,
    radius: u32,
    flipped: bool,
    each: &mut impl FnMut(&mut P, u32) -> Result<()>,
) -> Result<()> {
    if radius == 0 || bits == 0 {
        return if flipped { each(pages, value) } else { Ok(()) };
    }
    neighbours(pages, value, bits - 1, radius, flipped, each)?;
    pages.tick();
    let other = value ^ 1 << (bits - 1);
    neighbours(pages, other, bits - 1, radius - 1, true, each)
}
