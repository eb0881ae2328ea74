//! The rows of a segment, folded, in memory.

use super::table::ChunkTable;
use crate::chunk::Chunk;
use crate::pages::Pages;
use crate::segment::Segment;
use base::{Error, Result};
use signature::bits::{fold, Fold};
use std::ops::Range;

/// Folds are of no use where more than this share of rows with nothing in common pass: a row that passes costs as much
/// to look at as thirty to scan.
const PASSING: f64 = 0.01;

/// Rows of a segment, folded.
#[derive(Debug)]
pub struct Folds {
    pub(super) first: u32,
    pub(super) folds: Vec<Fold>,
    pub(super) counts: ValueCounts,
}

impl Folds {
    /// Bytes of memory a row, with the tables that a join makes of the rows.
    pub const ROW: usize = size_of::<Fold>() + ChunkTable::ROW;

    /// Of these rows, which have signatures.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn of(segment: &Segment, rows: Range<u32>, pages: &mut impl Pages) -> Result<Folds> {
        let mut folds = Vec::new();
        let n = rows.len();
        folds
            .try_reserve_exact(n)
            .map_err(|_| Error::out_of_memory(size_of::<Fold>() * n))?;
        let geometry = segment.geometry;
        let capacity = geometry.capacity as u32;
        let chunks = segment.postings.iter().map(|postings| postings.chunk);
        let mut counts = ValueCounts::new(segment.postings.len(), n);
        let mut next = rows.start;
        while next < rows.end {
            let page = next / capacity;
            let (from, to) = (next % capacity, (rows.end - page * capacity).min(capacity));
            let content = segment.row_page(page, pages.page(page)?)?;
            let words = content.words(from as usize, to as usize);
            counts.add(chunks.clone(), words, geometry.stride);
            folds.extend(words.chunks_exact(geometry.stride).map(fold));
            next = page * capacity + to;
            pages.tick();
        }
        pages.release();
        Ok(Folds {
            first: rows.start,
            folds,
            counts,
        })
    }

    /// The rows' numbers in the segment.
    pub fn rows(&self) -> Range<u32> {
        self.first..self.first + self.folds.len() as u32
    }

    /// From how many bits on, in which rows may differ, folds let too many pass.
    pub(super) fn weak_from(&self) -> u32 {
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

// Which values of chunks are frequent, as counters that some values share say.

/// Counters of a chunk, as a power of two.
const COUNTERS: u32 = 14;

/// Rows that are counted at most.
const COUNTED: usize = 1 << 16;

/// Counters for each chunk.
#[derive(Debug, Default)]
pub(super) struct ValueCounts {
    counters: Vec<u16>,
    counted: u32,
    /// For each row that is counted there are so many.
    step: usize,
    next: usize,
}

#[inline(always)]
fn counter(chunk: usize, value: u32) -> usize {
    chunk << COUNTERS | (value.wrapping_mul(0x9e37_79b1) >> (32 - COUNTERS)) as usize
}

impl ValueCounts {
    /// For so many rows.
    pub(super) fn new(chunks: usize, rows: usize) -> ValueCounts {
        ValueCounts {
            counters: vec![0; chunks << COUNTERS],
            counted: 0,
            step: rows.div_ceil(COUNTED).max(1),
            next: 0,
        }
    }

    /// Counts some of these rows.
    pub(super) fn add(
        &mut self,
        chunks: impl Iterator<Item = Chunk> + Clone,
        words: &[u64],
        stride: usize,
    ) {
        let rows = words.len() / stride;
        while self.next < rows {
            let row = &words[self.next * stride..(self.next + 1) * stride];
            for (i, chunk) in chunks.clone().enumerate() {
                let count = &mut self.counters[counter(i, chunk.value(row))];
                *count = count.saturating_add(1);
            }
            self.counted += 1;
            self.next += self.step;
        }
        self.next -= rows;
    }

    /// About how many rows have the value, if they are more than chance explains.
    #[inline]
    pub(super) fn frequent(&self, chunk: usize, value: u32) -> Option<f64> {
        let mean = f64::from(self.counted) / f64::from(1u32 << COUNTERS);
        let count = f64::from(self.counters[counter(chunk, value)]);
        (count > 2.0 * mean + 8.0).then_some((count - mean) * self.step as f64)
    }
}
