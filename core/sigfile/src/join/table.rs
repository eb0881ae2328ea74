//! Which rows have which value in a chunk, in memory, so that many values can be looked up quickly.

use crate::chunk::Chunk;
use crate::segment::Segment;
use crate::Pages;
use base::memory::with_room;
use base::{Error, Result};
use signature::bits::{fold, Fold};
use std::ops::Range;

/// Bits of the filter for each row. It says of nine in ten values that no row has them.
const FILTER_BITS: usize = 10;

/// Chunks whose values are read from the rows together.
pub(super) const TOGETHER: usize = 2;

/// Values of some chunks, row by row.
#[derive(Default)]
pub(super) struct ChunkValues {
    first: u32,
    values: [Vec<u32>; TOGETHER],
}

impl ChunkValues {
    /// Reads the values of some chunks, at most [`TOGETHER`].
    ///
    /// Errors: a damaged page; out of memory.
    pub(super) fn read(
        &mut self,
        segment: &Segment,
        chunks: &[Chunk],
        rows: Range<u32>,
        pages: &mut impl Pages,
    ) -> Result<()> {
        self.first = rows.start;
        for (values, _) in self.values.iter_mut().zip(chunks) {
            values.clear();
            // Not by doubling: what is kept is counted by the rows of a band.
            if values.capacity() < rows.len() {
                *values = with_room(rows.len())?;
            }
        }
        let stride = segment.geometry.stride;
        segment.for_each_words(rows, pages, |words| {
            for (values, chunk) in self.values.iter_mut().zip(chunks) {
                values.extend(words.chunks_exact(stride).map(|row| chunk.value(row)));
            }
        })?;
        pages.release();
        Ok(())
    }
}

/// The rows that have each value of a chunk.
#[derive(Default)]
pub(super) struct ChunkTable {
    /// Where the entries of each place begin.
    places: Vec<u32>,
    /// Value · 2^32 + row, by the value's place.
    entries: Vec<u64>,
    /// A bit for each value that is there; those of some other values are set by chance.
    filter: Vec<u64>,
}

/// Where a value is in something that has `size` places.
#[inline(always)]
fn place(value: u32, size: usize) -> usize {
    let hash = value.wrapping_mul(0x9e37_79b1);
    ((u64::from(hash) * size as u64) >> 32) as usize
}

impl ChunkTable {
    /// Bytes of memory a row at most, those of [`ChunkValues`] included.
    pub(super) const ROW: usize = 4 + 8 + 2 + 4 * TOGETHER;

    /// Takes in the values of chunk `which` of those that were read together.
    ///
    /// Errors: out of memory.
    pub(super) fn fill(
        &mut self,
        values: &ChunkValues,
        which: usize,
        pages: &mut impl Pages,
    ) -> Result<()> {
        /// Rows between two turns.
        const TURN: usize = 1 << 13;
        let (first, values) = (values.first, &values.values[which]);
        let n = values.len();
        let failed = |_| Error::out_of_memory(ChunkTable::ROW * n);
        let words = (FILTER_BITS * n).div_ceil(64) + 1;
        // Where place p begins is at p + 1 as yet, moves on with each row, and so comes to be where p ends.
        self.places.clear();
        self.places.try_reserve(n + 3).map_err(failed)?;
        self.places.resize(n + 3, 0);
        self.entries.clear();
        self.entries.try_reserve(n).map_err(failed)?;
        self.entries.resize(n, 0);
        self.filter.clear();
        self.filter.try_reserve(words).map_err(failed)?;
        self.filter.resize(words, 0);
        for some in values.chunks(TURN) {
            for &value in some {
                self.places[place(value, n + 1) + 2] += 1;
                let bit = place(value, 64 * words);
                self.filter[bit / 64] |= 1 << (bit % 64);
            }
            pages.tick();
        }
        let mut sum = 0;
        for some in self.places.chunks_mut(TURN) {
            for count in some {
                sum += *count;
                *count = sum;
            }
            pages.tick();
        }
        let mut row = first;
        for some in values.chunks(TURN) {
            for &value in some {
                let at = &mut self.places[place(value, n + 1) + 1];
                self.entries[*at as usize] = u64::from(value) << 32 | u64::from(row);
                *at += 1;
                row += 1;
            }
            pages.tick();
        }
        Ok(())
    }

    /// Adds those of the values `value` xor `flips` to `out` that rows may have.
    #[inline(always)]
    pub(super) fn likely(&self, value: u32, flips: &[u32], out: &mut Vec<u32>) {
        let from = out.len();
        out.resize(from + flips.len(), 0);
        let (bits, mut n) = (64 * self.filter.len(), from);
        // without a branch for each
        for flip in flips {
            let near = value ^ flip;
            let bit = place(near, bits);
            out[n] = near;
            n += (self.filter[bit / 64] >> (bit % 64) & 1) as usize;
        }
        out.truncate(n);
    }

    /// Where the entries are among which those of a value are.
    #[inline(always)]
    pub(super) fn range(&self, value: u32) -> (u32, u32) {
        let at = place(value, self.entries.len() + 1);
        (self.places[at], self.places[at + 1])
    }

    /// The rows in that range that have the value, ascending.
    #[inline(always)]
    pub(super) fn rows(&self, value: u32, range: (u32, u32)) -> impl Iterator<Item = u32> + '_ {
        let entries = self.entries[range.0 as usize..range.1 as usize].iter();
        let those = entries.filter(move |&&entry| (entry >> 32) as u32 == value);
        those.map(|&entry| entry as u32)
    }
}

/// What is needed to look values up in tables.
#[derive(Default)]
pub(super) struct TableProbe {
    pub(super) values: ChunkValues,
    pub(super) table: ChunkTable,
    /// For each row of the batch that is probed: its number, value and radius.
    pub(super) probed: Vec<(u32, u32, u32)>,
    pub(super) flips: Vec<u32>,
    /// Values that rows may have, and up to where they are of which row of the batch.
    pub(super) likely: Vec<u32>,
    pub(super) ends: Vec<(u32, u32)>,
    /// Where the table has the rows of each of these values.
    pub(super) ranges: Vec<(u32, u32)>,
    /// Row of the batch · 2^32 + row that has such a value.
    pub(super) pairs: Vec<u64>,
}

// The rows of a segment, folded, in memory.

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
    pub fn new(segment: &Segment, rows: Range<u32>, pages: &mut impl Pages) -> Result<Folds> {
        let n = rows.len();
        let mut folds = with_room(n)?;
        let stride = segment.geometry.stride;
        let chunks = segment.postings.iter().map(|postings| postings.chunk);
        let mut counts = ValueCounts::new(segment.postings.len(), n);
        segment.for_each_words(rows.clone(), pages, |words| {
            counts.add(chunks.clone(), words, stride);
            folds.extend(words.chunks_exact(stride).map(fold));
        })?;
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
