//! Searching for many rows at once among rows that go by, as a hash join does.
//!
//! The rows that are searched for are listed in memory, by the values of disjoint chunks of their bits. If two rows differ in r
//! bits at the most and there are r + 1 chunks, they agree in one of them (the pigeonhole principle). So each row that goes by is
//! looked up by each of its chunks. That reads every row of a segment, which for a few thousand rows is far quicker than a search
//! for each: nothing is read but rows, one page behind the other, and nothing is planned for a row.

mod wanted;

pub use wanted::{WantedRows, MOST_ROWS};

use wanted::Rows;

use super::rows::RowPage;
use crate::bits::{intersect_words, BitRange, ChunkList, ChunkProbe, AT_ONCE};
use crate::similarity::{least_common, Popcounts};
use crate::{Error, Result};

/// A chunk has so many bits at least, where rows with the most bits are compared. With fewer, too many rows agree in one by
/// chance.
const LEAST_WIDTH: usize = 7;

/// Of so many rows the one with the most bits is not searched for: it would take more chunks for all.
const ONE_LEFT_OUT: usize = 100;

/// A chunk has so many bits at the most.
const MOST_WIDTH: usize = 32;

/// Rows that go by are collected up to this number: they stay in the processor's cache.
const BLOCK: usize = 1 << 10;

/// Only for so many rows that go by is it worth while to list the rows anew, by as few chunks as possible.
const LONG: u64 = 1 << 16;

/// A search for many rows.
pub struct ManySearch {
    wanted: Rows,
    bits: usize,
    threshold: f64,
    /// Rows with more bits are not searched for.
    greatest_popcount: u32,
    /// For each popcount of a row that goes by, in how many bits it can differ from a row that is wanted and be similar to it;
    /// `None` if it can be similar to none.
    reach: Vec<Option<u32>>,
    /// Of all popcounts.
    greatest_reach: u32,
    /// How the rows are listed now.
    chunks: Vec<BitRange>,
    /// Of each chunk, one behind the other.
    starts: Vec<u16>,
    listed: Vec<u16>,
    block: Rows,
    /// The tids of the block's rows.
    tids: Vec<u64>,
    /// Whether many rows follow.
    is_long: bool,
    /// Pairs on their way, and those that have passed the folds.
    pairs: Vec<[u16; 2]>,
    near: Vec<[u16; 2]>,
}

impl ManySearch {
    /// A search for rows of so many bits, which lists the first ones of them in `memory` bytes. `None` if it would not be worth
    /// while: the threshold is so low that rows which may be similar need not agree in bits enough.
    pub fn new(wanted: WantedRows, bits: u32, threshold: f64, memory: usize) -> Option<ManySearch> {
        let mut wanted = wanted.0;
        let mut popcounts = wanted.popcounts.clone();
        popcounts.sort_unstable();
        let last = popcounts.len().checked_sub(1)?;
        let greatest_popcount = popcounts[last - last / ONE_LEFT_OUT];
        popcounts.dedup();
        popcounts.retain(|&popcount| popcount <= greatest_popcount);
        let reach_of = |other: u32| {
            let reach = |&own: &u32| {
                let common = least_common(own, other, threshold)?;
                Some(own + other - 2 * common)
            };
            popcounts.iter().filter_map(reach).max()
        };
        let reach: Vec<Option<u32>> = (0..=bits).map(reach_of).collect();
        let greatest_reach = reach.iter().flatten().copied().max().unwrap_or(0);
        let chunks = greatest_reach as usize + 1;
        if chunks * LEAST_WIDTH > bits as usize {
            return None;
        }
        // Each chunk takes two bytes for the row, and up to four for where buckets begin.
        let chunks = chunks.max((bits as usize).div_ceil(MOST_WIDTH));
        wanted.truncate((memory / (3 * size_of::<u16>() * chunks)).clamp(1, MOST_ROWS));
        Some(ManySearch {
            wanted,
            bits: bits as usize,
            threshold,
            greatest_popcount,
            reach,
            greatest_reach,
            chunks: Vec::new(),
            starts: Vec::new(),
            listed: Vec::new(),
            block: Rows::default(),
            tids: Vec::new(),
            is_long: false,
            pairs: Vec::new(),
            near: Vec::new(),
        })
    }

    /// How many rows are searched for: those after them did not fit into memory.
    pub fn rows(&self) -> usize {
        self.wanted.len()
    }

    /// Whether a row is searched for. The few with the most bits are not.
    pub fn is_wanted(&self, row: usize) -> bool {
        self.wanted.popcounts[row] <= self.greatest_popcount
    }

    /// Says that so many rows follow, mostly in the order of their popcounts.
    pub fn follow(&mut self, rows: u64) {
        self.is_long = rows >= LONG;
    }

    /// The least and the greatest popcount of rows that can be similar to one that is wanted; `None` if none can.
    pub fn within_reach(&self) -> Option<(u32, u32)> {
        let least = self.reach.iter().position(Option::is_some)?;
        let greatest = self.reach.iter().rposition(Option::is_some)?;
        Some((least as u32, greatest as u32))
    }

    /// Takes the rows of a page, except those that are dead. If it is [full](ManySearch::is_full) then, [`ManySearch::sweep`] must be
    /// called before the next page.
    ///
    /// Errors: out of memory.
    pub fn pass(&mut self, page: &RowPage<'_>) -> Result<()> {
        for (i, &popcount) in page.popcounts().iter().enumerate() {
            let tid = page.tid(i);
            if tid != 0 && matches!(self.reach.get(popcount as usize), Some(Some(_))) {
                self.pass_row(page.words(i, i + 1), popcount, tid)?;
            }
        }
        Ok(())
    }

    fn pass_row(&mut self, words: &[u64], popcount: u32, tid: u64) -> Result<()> {
        let failed = |_| Error::out_of_memory(size_of::<u64>());
        self.tids.try_reserve(1).map_err(failed)?;
        self.block.push(words, popcount)?;
        self.tids.push(tid);
        Ok(())
    }

    /// Whether no further row can be taken.
    pub fn is_full(&self) -> bool {
        self.tids.len() >= BLOCK
    }

    /// Calls `hit` with the number of a row that is wanted and the tid of a row that has gone by, for all of these whose similarity
    /// reaches the threshold, and forgets these. `tick` is called at every step that may take some microseconds.
    ///
    /// Errors: out of memory.
    pub fn sweep(
        &mut self,
        tick: &mut impl FnMut(),
        hit: &mut impl FnMut(usize, u64),
    ) -> Result<()> {
        let reach = self.block.popcounts.iter();
        let reach = reach.filter_map(|&p| self.reach[p as usize]).max();
        let (Some(reach), false) = (reach, self.wanted.len() == 0) else {
            return Ok(());
        };
        self.list_by(reach, tick)?;
        let mut near = std::mem::take(&mut self.near);
        let mut pairs = std::mem::take(&mut self.pairs);
        for c in 0..self.chunks.len() {
            tick();
            near.clear();
            let probe = ChunkProbe {
                words: &self.block.words,
                stride: self.block.words.len() / self.block.len(),
                folds: &self.block.folds,
                list: self.list(c),
                listed: &self.wanted.folds,
                limit: reach,
            };
            probe.near(&mut pairs, &mut near);
            for &[row, wanted] in &near {
                let (row, wanted) = (usize::from(row), usize::from(wanted));
                let (a, b) = (self.block.row(row), self.wanted.row(wanted));
                // Each pair once: by the first chunk in which the two agree.
                let agree = |chunk: &BitRange| chunk.of(a) == chunk.of(b);
                let counts = Popcounts {
                    a: self.wanted.popcounts[wanted],
                    b: self.block.popcounts[row],
                    common: intersect_words(a, b),
                };
                if counts.jaccard() >= self.threshold
                    && self.chunks.iter().position(agree) == Some(c)
                {
                    hit(wanted, self.tids[row]);
                }
            }
        }
        (self.near, self.pairs) = (near, pairs);
        self.block.clear();
        self.tids.clear();
        Ok(())
    }

    fn list(&self, c: usize) -> ChunkList<'_> {
        let (n, buckets) = (self.wanted.len(), self.starts.len() / self.chunks.len());
        ChunkList {
            bits: self.chunks[c],
            starts: &self.starts[c * buckets..(c + 1) * buckets],
            rows: &self.listed[c * n..(c + 1) * n + AT_ONCE],
        }
    }

    /// Lists the rows by so many chunks that two rows which differ in `reach` bits agree in one.
    ///
    /// Errors: out of memory.
    fn list_by(&mut self, reach: u32, tick: &mut impl FnMut()) -> Result<()> {
        // In steps, as it takes its time.
        let step = (self.greatest_reach as usize / 16).max(1);
        let most = self.greatest_reach as usize + 1;
        let needed = match self.is_long {
            true => ((reach as usize + 1).next_multiple_of(step)).min(most),
            false => most,
        };
        let needed = needed.max(self.bits.div_ceil(MOST_WIDTH));
        if self.chunks.len() == needed {
            return Ok(());
        }
        let at = |c: usize| c * self.bits / needed;
        let n = self.wanted.len();
        let stride = self.wanted.words.len() / n;
        self.chunks.clear();
        self.chunks
            .extend((0..needed).map(|c| BitRange::new(at(c), at(c + 1), stride)));
        let log = (n.ilog2() + 1).min(16);
        let buckets = (1_usize << log) + 1;
        self.starts.clear();
        self.listed.clear();
        let memory = 2 * needed * (buckets + n);
        self.starts
            .try_reserve_exact(needed * buckets)
            .and_then(|()| self.listed.try_reserve_exact(needed * n + AT_ONCE))
            .map_err(|_| Error::out_of_memory(memory))?;
        self.starts.resize(needed * buckets, 0);
        self.listed.resize(needed * n + AT_ONCE, 0);
        for (c, chunk) in self.chunks.iter().enumerate() {
            tick();
            let starts = &mut self.starts[c * buckets..(c + 1) * buckets];
            let listed = &mut self.listed[c * n..(c + 1) * n];
            let bucket = |i: usize| ChunkList::bucket(chunk.of(self.wanted.row(i)), log);
            for i in 0..n {
                starts[bucket(i)] += 1;
            }
            // Where each bucket ends; filling it backwards makes it where it begins.
            let mut sum = 0;
            for start in starts.iter_mut() {
                sum += *start;
                *start = sum;
            }
            for i in (0..n).rev() {
                let start = &mut starts[bucket(i)];
                *start -= 1;
                listed[usize::from(*start)] = i as u16;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
