//! Looking up the values of chunks in the posting lists.

use super::batch::{keep, Batch, Candidate};
use super::joiner::Joiner;
use super::table::TOGETHER;
use crate::chunk::Chunk;
use crate::Pages;
use base::memory::reserve;
use base::sort::sort;
use base::{Result, Ticker};
use signature::bits::keep_counted;
use std::time::Instant;

/// Probes that are collected before they are sorted.
const PROBES: usize = 1 << 18;

/// Candidates that are collected before they are looked at.
const CANDIDATES: usize = 1 << 17;

impl Joiner<'_> {
    /// Looks at what the chunks give.
    pub(super) fn probe<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        in_tables: bool,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        if in_tables {
            self.probe_tables(pages, batch, hit)?;
            return self.verify(pages, batch, hit);
        }
        let chunks = self.segment.postings.len();
        for chunk in 0..chunks {
            let postings = &self.segment.postings[chunk];
            self.probes.clear();
            for i in 0..batch.len() {
                let radius = self.radii[i * chunks + chunk];
                if radius < 0 {
                    continue;
                }
                let value = postings.chunk.value(batch.words(i));
                let mut flips = Flips::new(postings.chunk.width, radius as u32);
                while let Some(flip) = flips.next() {
                    if self.probes.len() == PROBES {
                        self.look_up(pages, batch, chunk, hit)?;
                    }
                    self.probes.push(u64::from(value ^ flip) << 32 | i as u64);
                }
            }
            self.look_up(pages, batch, chunk, hit)?;
        }
        self.verify(pages, batch, hit)
    }

    /// Looks at the candidates if they are many.
    pub(super) fn verify_many<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        if self.candidates.len() < CANDIDATES {
            return Ok(());
        }
        self.verify(pages, batch, hit)
    }

    /// Looks the probes up in the postings of a chunk.
    fn look_up<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        chunk: usize,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        let postings = &self.segment.postings[chunk];
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
            keep(&mut self.candidates, i, chunk, &near)?;
            self.verify_many(pages, batch, hit)?;
        }
        probes.clear();
        (self.probes, self.near) = (probes, near);
        Ok(())
    }
}

// Looking up the values of chunks in tables in memory.

/// Differences that all rows of a batch are probed with, one row after the other.
const FLIPS: usize = 1 << 10;

/// Values, and pairs, that are collected before the next step is done with them, so that the processor waits for
/// several at once.
const COLLECTED: usize = 1 << 12;

impl Joiner<'_> {
    /// Looks at what the chunks give, by tables of their values.
    pub(super) fn probe_tables<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        let segment = self.segment;
        let probed = || batch.rows.iter().filter(|row| row.rows.start < row.scanned);
        let from = probed().map(|row| row.rows.start).min().unwrap_or(0);
        let to = probed().map(|row| row.scanned).max().unwrap_or(0);
        let used = |&chunk: &usize| {
            let radii = self.radii[chunk..].iter().step_by(segment.postings.len());
            radii.into_iter().any(|&radius| radius >= 0)
        };
        let used: Vec<usize> = (0..segment.postings.len()).filter(used).collect();
        for some in used.chunks(TOGETHER) {
            let chunks: Vec<Chunk> = some.iter().map(|&i| segment.postings[i].chunk).collect();
            let started = Instant::now();
            self.tables.values.read(segment, &chunks, from..to, pages)?;
            self.once += started.elapsed();
            for (which, &chunk) in some.iter().enumerate() {
                let (tables, started) = (&mut self.tables, Instant::now());
                tables.table.fill(&tables.values, which, pages)?;
                self.once += started.elapsed();
                self.probe_table(pages, batch, chunk, hit)?;
            }
        }
        Ok(())
    }

    /// Collects what a chunk gives whose table was made.
    fn probe_table<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        chunk: usize,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        let (stretch, chunks) = (
            self.segment.postings[chunk].chunk,
            self.segment.postings.len(),
        );
        let probe = &mut self.tables;
        probe.probed.clear();
        let mut most = 0;
        for (i, asked) in batch.rows.iter().enumerate() {
            let radius = self.radii[i * chunks + chunk];
            if radius < 0 || asked.rows.start >= asked.scanned {
                continue;
            }
            let value = stretch.value(batch.words(i));
            probe.probed.push((i as u32, value, radius as u32));
            most = most.max(radius as u32);
        }
        pages.tick();
        let mut flips = Flips::new(stretch.width, most);
        let mut next = flips.next();
        while let Some(first) = next {
            let set = first.count_ones();
            let probe = &mut self.tables;
            probe.flips.clear();
            while let Some(flip) = next.filter(|flip| flip.count_ones() == set) {
                if probe.flips.len() == FLIPS {
                    break;
                }
                probe.flips.push(flip);
                next = flips.next();
            }
            for at in 0..self.tables.probed.len() {
                let probe = &mut self.tables;
                let (i, value, radius) = probe.probed[at];
                if radius < set {
                    continue;
                }
                probe.table.likely(value, &probe.flips, &mut probe.likely);
                probe.ends.push((i, probe.likely.len() as u32));
                if probe.likely.len() >= COLLECTED {
                    self.look_up_likely(pages, batch, chunk, hit)?;
                }
            }
            self.look_up_likely(pages, batch, chunk, hit)?;
        }
        Ok(())
    }

    /// Finds the rows that have the values, of which those with near folds become candidates.
    fn look_up_likely<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        chunk: usize,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        let folds = self.folds;
        let probe = &mut self.tables;
        probe.ranges.clear();
        let ranges = probe.likely.iter().map(|&value| probe.table.range(value));
        probe.ranges.extend(ranges);
        let mut start = 0;
        for at in 0..self.tables.ends.len() {
            let probe = &mut self.tables;
            let (i, end) = probe.ends[at];
            let values = probe.likely[start..end as usize].iter();
            for (&value, &range) in values.zip(&probe.ranges[start..]) {
                let rows = probe.table.rows(value, range);
                probe
                    .pairs
                    .extend(rows.map(|row| u64::from(i) << 32 | u64::from(row)));
            }
            start = end as usize;
            if self.tables.pairs.len() < COLLECTED && at + 1 < self.tables.ends.len() {
                continue;
            }
            let pairs = &mut self.tables.pairs;
            keep_counted(pairs, |pair| {
                let (i, row) = ((pair >> 32) as usize, pair as u32);
                let asked = &batch.rows[i];
                let near = asked
                    .filter(folds)
                    .passes(&folds.folds[(row - folds.first) as usize]);
                (asked.rows.start <= row) & (row < asked.scanned) & near
            });
            reserve(&mut self.candidates, pairs.len())?;
            let kept = pairs.drain(..);
            self.candidates
                .extend(kept.map(|pair| Candidate::new((pair >> 32) as usize, pair as u32, chunk)));
            self.verify_many(pages, batch, hit)?;
            pages.tick();
        }
        self.tables.likely.clear();
        self.tables.ends.clear();
        Ok(())
    }
}

// The values near a value.

/// The numbers of `width` bits of which at most `radius` are set.
pub(super) struct Flips {
    width: u32,
    radius: u32,
    next: Option<u32>,
}

impl Flips {
    pub(super) fn new(width: u32, radius: u32) -> Flips {
        Flips {
            width,
            radius: radius.min(width),
            next: Some(0),
        }
    }

    pub(super) fn next(&mut self) -> Option<u32> {
        let this = self.next?;
        let set = this.count_ones();
        // the next number with as many bits set (R. W. Gosper, in HAKMEM, 1972, item 175), or the least with one more
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
mod flips_tests {
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
