//! Which values of chunks are frequent, as counters that some values share say.

use crate::chunk::Chunk;

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
