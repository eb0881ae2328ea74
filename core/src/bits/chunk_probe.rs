//! Looking up chunks of the bits of many rows in a table of the same chunk of other rows.

use std::ops::Range;

use super::fold::Fold;
use crate::{Error, Result};

/// A chunk of rows that lie by columns: neighbouring bits, 32 at the most.
#[derive(Clone, Copy)]
pub(crate) struct ChunkColumn<'a> {
    /// The words that the first bit is in, row by row.
    low: &'a [u64],
    /// The next ones, if rows have them.
    high: &'a [u64],
    shift: u32,
    mask: u64,
}

impl<'a> ChunkColumn<'a> {
    /// The bits from number `from` on, before number `to`. Column w has word w of each row.
    pub(crate) fn new(columns: &'a [Vec<u64>], from: usize, to: usize) -> ChunkColumn<'a> {
        debug_assert!((1..=32).contains(&(to - from)), "a chunk has 1 to 32 bits");
        ChunkColumn {
            low: &columns[from / 64],
            high: &columns[(from / 64 + 1).min(columns.len() - 1)],
            shift: (from % 64) as u32,
            mask: (1 << (to - from)) - 1,
        }
    }

    /// The value of these bits in row `i`.
    #[inline(always)]
    pub(crate) fn value(&self, i: usize) -> u32 {
        self.join(self.low[i], self.high[i])
    }

    #[inline(always)]
    fn join(&self, low: u64, high: u64) -> u32 {
        // Bits of the same word once more are beyond the mask.
        (((low >> self.shift) | (high << 1) << (63 - self.shift)) & self.mask) as u32
    }

    #[inline(always)]
    fn values(&self) -> impl Iterator<Item = u32> + '_ {
        let words = self.low.iter().zip(self.high);
        words.map(|(&low, &high)| self.join(low, high))
    }
}

/// Rows by the value of a chunk, in buckets of values.
#[derive(Default)]
pub(crate) struct ChunkTable {
    /// Buckets, as a power of two.
    log: u32,
    /// Where each bucket begins in `rows`, and where the last one ends.
    starts: Vec<u16>,
    /// There are [`AT_ONCE`] more behind the last bucket, whatever they are.
    rows: Vec<u16>,
    /// A bit for each slot that a value of some row has. A bucket has [`SLOTS`] of them.
    filter: Vec<u64>,
    /// The slots of all rows.
    slots: Vec<u32>,
}

/// Rows of a bucket that are taken at once.
const AT_ONCE: usize = 4;

/// Slots of a bucket, as a power of two: the filter says of seven in eight values that no row has them.
const SLOTS: u32 = 3;

/// The most rows of a table.
pub(crate) const MOST_IN_TABLE: usize = u16::MAX as usize;

/// The slot of a value, of 2^`log` slots.
#[inline(always)]
fn slot(value: u32, log: u32) -> u32 {
    // 2^32 divided by the golden ratio
    value.wrapping_mul(0x9e37_79b1) >> (32 - log)
}

impl ChunkTable {
    /// Buckets of a table of so many rows, as a power of two.
    pub(crate) fn log(rows: usize) -> u32 {
        (rows.max(1).ilog2() + 1).clamp(6, 16)
    }

    /// Bytes of a table of so many rows at most.
    pub(crate) const fn bytes(rows: usize) -> usize {
        // Twice as many buckets as rows, at the most.
        rows * (size_of::<u32>() + size_of::<u16>()) + 2 * rows * (size_of::<u16>() + 1)
    }

    /// Takes in the rows of a chunk, in place of those that it has; at most [`MOST_IN_TABLE`].
    ///
    /// Errors: out of memory.
    pub(crate) fn fill(&mut self, chunk: &ChunkColumn<'_>) -> Result<()> {
        let n = chunk.low.len();
        debug_assert!(n <= MOST_IN_TABLE, "rows have numbers of 16 bits");
        self.log = ChunkTable::log(n);
        let log = self.log + SLOTS;
        let failed = |_| Error::out_of_memory(ChunkTable::bytes(n));
        self.starts.clear();
        self.filter.clear();
        self.slots.clear();
        self.slots.try_reserve_exact(n).map_err(failed)?;
        let more = (n + AT_ONCE).saturating_sub(self.rows.len());
        self.rows.try_reserve_exact(more).map_err(failed)?;
        let buckets = (1 << self.log) + 1;
        self.starts.try_reserve_exact(buckets).map_err(failed)?;
        let words = 1 << (log - 6);
        self.filter.try_reserve_exact(words).map_err(failed)?;
        self.rows.resize(n + AT_ONCE, 0);
        self.starts.resize(buckets, 0);
        self.filter.resize(words, 0);
        self.slots.extend(chunk.values().map(|v| slot(v, log)));
        for &slot in &self.slots {
            self.filter[slot as usize / 64] |= 1 << (slot % 64);
            self.starts[(slot >> SLOTS) as usize] += 1;
        }
        // Where each bucket ends; filling it backwards makes it where it begins.
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        for (i, slot) in self.slots.iter().enumerate().rev() {
            let start = &mut self.starts[(slot >> SLOTS) as usize];
            *start -= 1;
            self.rows[usize::from(*start)] = i as u16;
        }
        Ok(())
    }

    /// Where the rows of a slot's bucket are.
    #[inline(always)]
    fn bucket(&self, slot: u32) -> (usize, usize) {
        let bucket = (slot >> SLOTS) as usize;
        let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
        (usize::from(start), usize::from(end))
    }
}

/// What is on its way while values are looked up.
#[derive(Default)]
pub(crate) struct ProbeSpace {
    /// Slot and row that is looked up.
    slots: Vec<[u32; 2]>,
    /// Row that is looked up, and row of the table.
    pairs: Vec<[u32; 2]>,
}

/// Slots that are collected before the next step is done with them, so that the processor waits for several at once.
const COLLECTED: usize = 1 << 10;

/// A chunk of rows, to be looked up in a table of the same chunk of others.
#[derive(Clone, Copy)]
pub(crate) struct ChunkProbe<'a> {
    pub(crate) chunk: ChunkColumn<'a>,
    pub(crate) folds: &'a [Fold],
    pub(crate) popcounts: &'a [u16],
    /// For each popcount of a row: with how many of `flips` its value is looked up.
    pub(crate) counts: &'a [u16],
    /// The same: in how many bits rows may differ.
    pub(crate) limits: &'a [u16],
    pub(crate) flips: &'a [u32],
    pub(crate) table: &'a ChunkTable,
    /// The folds of the rows of the table.
    pub(crate) listed: &'a [Fold],
    /// Whether most values are those of no row.
    pub(crate) is_sparse: bool,
}

impl ChunkProbe<'_> {
    /// Calls `near` with rows of both kinds whose values differ by one of the flips, or by chance not at all in their buckets, and
    /// whose folds differ little enough. It returns whether to go on with the row that is looked up.
    /// Returns how many pairs were compared.
    pub(crate) fn look_up(
        &self,
        rows: Range<usize>,
        space: &mut ProbeSpace,
        near: &mut impl FnMut(usize, usize) -> bool,
    ) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instruction.
            return unsafe { self.look_up_popcnt(rows, space, near) };
        }
        self.look_up_here(rows, space, near)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn look_up_popcnt(
        &self,
        rows: Range<usize>,
        space: &mut ProbeSpace,
        near: &mut impl FnMut(usize, usize) -> bool,
    ) -> u64 {
        self.look_up_here(rows, space, near)
    }

    /// Nobody can foresee which values rows have, how many rows a bucket has, and which folds differ little. So there is no branch
    /// for any of it: what was not meant is written over.
    #[inline(always)]
    fn look_up_here(
        &self,
        rows: Range<usize>,
        space: &mut ProbeSpace,
        near: &mut impl FnMut(usize, usize) -> bool,
    ) -> u64 {
        let log = self.table.log + SLOTS;
        let filter = &self.table.filter[..];
        // One more is written than counts.
        space.slots.resize(COLLECTED + self.flips.len() + 1, [0; 2]);
        let (mut found, mut compared) = (0, 0);
        for i in rows {
            let count = usize::from(self.counts[usize::from(self.popcounts[i])]);
            let value = self.chunk.value(i);
            let to = &mut space.slots[found..found + count + 1];
            let mut n = 0;
            if self.is_sparse {
                for &flip in &self.flips[..count] {
                    let slot = slot(value ^ flip, log);
                    to[n] = [slot, i as u32];
                    n += (filter[slot as usize / 64] >> (slot % 64) & 1) as usize;
                }
            } else {
                for &flip in &self.flips[..count] {
                    to[n] = [slot(value ^ flip, log), i as u32];
                    n += 1;
                }
            }
            found += n;
            if found >= COLLECTED {
                compared += self.compare_buckets(found, space, near);
                found = 0;
            }
        }
        compared + self.compare_buckets(found, space, near)
    }

    /// Compares rows with those of the buckets of the first so many slots.
    #[inline(always)]
    fn compare_buckets(
        &self,
        slots: usize,
        space: &mut ProbeSpace,
        near: &mut impl FnMut(usize, usize) -> bool,
    ) -> u64 {
        space.pairs.resize(COLLECTED + AT_ONCE, [0; 2]);
        let (mut found, mut compared) = (0, 0);
        for &[slot, i] in &space.slots[..slots] {
            let (start, end) = self.table.bucket(slot);
            let first = &self.table.rows[start..start + AT_ONCE];
            let to = &mut space.pairs[found..found + AT_ONCE];
            for (to, &row) in to.iter_mut().zip(first) {
                *to = [i, u32::from(row)];
            }
            found += (end - start).min(AT_ONCE);
            compared += (end - start) as u64;
            if end - start > AT_ONCE {
                self.compare_rest(i, &self.table.rows[start + AT_ONCE..end], near);
            }
            if found >= COLLECTED {
                self.compare_pairs(&mut space.pairs[..found], near);
                found = 0;
            }
        }
        self.compare_pairs(&mut space.pairs[..found], near);
        compared
    }

    #[inline(always)]
    fn compare_pairs(&self, pairs: &mut [[u32; 2]], near: &mut impl FnMut(usize, usize) -> bool) {
        let mut kept = 0;
        for at in 0..pairs.len() {
            let pair = pairs[at];
            pairs[kept] = pair;
            kept += usize::from(self.is_near(pair[0] as usize, pair[1] as usize));
        }
        for &[i, row] in &pairs[..kept] {
            near(i as usize, row as usize);
        }
    }

    /// Compares a row with some of a long bucket.
    #[inline(always)]
    fn compare_rest(&self, i: u32, rows: &[u16], near: &mut impl FnMut(usize, usize) -> bool) {
        let i = i as usize;
        let (fold, limit) = (self.folds[i], self.limit(i));
        for &row in rows {
            let row = usize::from(row);
            if differ(&fold, &self.listed[row]) <= limit && !near(i, row) {
                break;
            }
        }
    }

    #[inline(always)]
    fn is_near(&self, i: usize, row: usize) -> bool {
        differ(&self.folds[i], &self.listed[row]) <= self.limit(i)
    }

    #[inline(always)]
    fn limit(&self, i: usize) -> u32 {
        u32::from(self.limits[usize::from(self.popcounts[i])])
    }
}

#[inline(always)]
fn differ(a: &Fold, b: &Fold) -> u32 {
    (a[0] ^ b[0]).count_ones() + (a[1] ^ b[1]).count_ones()
}
