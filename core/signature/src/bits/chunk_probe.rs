//! Looking up chunks of the bits of many rows in a table of the same chunk of other rows.

use std::ops::Range;

use base::memory::{filled, with_room};
use base::Result;

/// A chunk of rows that lie by columns: neighbouring bits, 32 at the most.
#[derive(Clone, Copy)]
pub struct ChunkColumn<'a> {
    /// The words that the first bit is in, row by row.
    low: &'a [u64],
    /// The next ones, if rows have them.
    high: &'a [u64],
    shift: u32,
    mask: u64,
}

impl<'a> ChunkColumn<'a> {
    /// These bits, of which there may be none. Column w has word w of each row.
    pub fn new(columns: &'a [Vec<u64>], bits: Range<usize>) -> ChunkColumn<'a> {
        debug_assert!(bits.len() <= 32, "a chunk has 32 bits at the most");
        ChunkColumn {
            low: &columns[bits.start / 64],
            high: &columns[(bits.start / 64 + 1).min(columns.len() - 1)],
            shift: (bits.start % 64) as u32,
            mask: (1 << bits.len()) - 1,
        }
    }

    /// The value of these bits in row `i`.
    #[inline(always)]
    pub fn value(&self, i: usize) -> u32 {
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

/// Buckets of a table, as a power of two.
const BUCKETS: u32 = 16;

/// Slots of a bucket, as a power of two: the filter says of fifteen in sixteen values or more that no row has them.
const SLOTS: u32 = 4;

/// Rows of a bucket that are compared at once.
const AT_ONCE: usize = 4;

/// The most rows of a table.
pub const MOST_IN_TABLE: usize = u16::MAX as usize;

/// Rows by the value of a chunk, in buckets of values. Its arrays have fixed sizes, so that nothing has to be checked
/// where they are read.
pub struct ChunkTable {
    /// Where each bucket begins in `rows`, and where the last one ends.
    starts: Box<[u16; (1 << BUCKETS) + 1]>,
    rows: Box<[u16; 1 << 16]>,
    /// Bits beyond the chunk of each of these rows, and some behind the last one, whatever they are.
    beyond: Box<[u32; (1 << 16) + AT_ONCE]>,
    /// A bit for each slot that a value of some row has.
    filter: Box<[u64; 1 << (BUCKETS + SLOTS - 6)]>,
    /// The slots of all rows, and their bits beyond the chunk.
    slots: Vec<[u32; 2]>,
}

/// The slot of a value.
#[inline(always)]
fn slot(value: u32) -> u32 {
    // 2^32 divided by the golden ratio
    value.wrapping_mul(0x9e37_79b1) >> (32 - BUCKETS - SLOTS)
}

/// Errors: out of memory.
fn zeroed<T: Copy + Default, const N: usize>() -> Result<Box<[T; N]>> {
    let all: Box<[T]> = filled(N, T::default())?.into_boxed_slice();
    Ok(all
        .try_into()
        .unwrap_or_else(|_| unreachable!("it has N elements")))
}

impl ChunkTable {
    /// Bytes of a table for so many rows.
    pub const fn bytes(rows: usize) -> usize {
        let fixed = 2 * (1 << BUCKETS) + (2 + 4) * (1 << 16) + (1 << (BUCKETS + SLOTS - 3));
        fixed + rows * size_of::<[u32; 2]>()
    }

    /// An empty table for so many rows.
    ///
    /// Errors: out of memory.
    pub fn new(rows: usize) -> Result<ChunkTable> {
        Ok(ChunkTable {
            starts: zeroed()?,
            rows: zeroed()?,
            beyond: zeroed()?,
            filter: zeroed()?,
            slots: with_room(rows)?,
        })
    }

    /// Takes in the rows of a chunk, in place of those that it has: as many as it was made for. `beyond` are other bits
    /// of the same rows.
    pub fn fill(&mut self, chunk: &ChunkColumn<'_>, beyond: &ChunkColumn<'_>) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            unsafe { self.fill_avx2(chunk, beyond) };
            return;
        }
        self.fill_here(chunk, beyond);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn fill_avx2(&mut self, chunk: &ChunkColumn<'_>, beyond: &ChunkColumn<'_>) {
        self.fill_here(chunk, beyond);
    }

    #[inline(always)]
    fn fill_here(&mut self, chunk: &ChunkColumn<'_>, beyond: &ChunkColumn<'_>) {
        debug_assert!(
            chunk.low.len() <= MOST_IN_TABLE,
            "rows have numbers of 16 bits"
        );
        let slots = chunk.values().map(slot).zip(beyond.values());
        self.slots.clear();
        self.slots
            .extend(slots.map(|(slot, beyond)| [slot, beyond]));
        self.starts.fill(0);
        self.filter.fill(0);
        for &[slot, _] in &self.slots {
            self.filter[word_of(slot)] |= 1 << (slot % 64);
            self.starts[bucket_of(slot)] += 1;
        }
        // Where each bucket ends; filling it backwards makes it where it begins.
        let mut sum = 0;
        for start in self.starts.iter_mut() {
            sum += *start;
            *start = sum;
        }
        for (i, &[slot, beyond]) in self.slots.iter().enumerate().rev() {
            let start = &mut self.starts[bucket_of(slot)];
            *start -= 1;
            self.rows[usize::from(*start)] = i as u16;
            self.beyond[usize::from(*start)] = beyond;
        }
    }
}

/// The word of the filter that has the bit of a slot.
#[inline(always)]
fn word_of(slot: u32) -> usize {
    (slot / 64) as usize & ((1 << (BUCKETS + SLOTS - 6)) - 1)
}

#[inline(always)]
fn bucket_of(slot: u32) -> usize {
    (slot >> SLOTS) as usize & ((1 << BUCKETS) - 1)
}

/// Slots that are collected before the next step is done with them, so that the processor waits for several at once.
const COLLECTED: usize = 1 << 10;

/// The most flips.
pub const MOST_FLIPS: usize = 1 + 32 + 32 * 31 / 2;

/// Rows that are looked up at once.
pub const ROWS_AT_ONCE: usize = 1 << 8;

/// What is on its way while values are looked up.
pub struct ProbeSpace {
    /// Row that is looked up · 2^32 + slot. Rows are counted from the first of them.
    slots: Box<[u64; 2 * COLLECTED]>,
    /// Of each row that is looked up: the bits beyond the chunk, and in how many of them rows may differ.
    own: Box<[[u32; 2]; ROWS_AT_ONCE]>,
}

impl ProbeSpace {
    /// Errors: out of memory.
    pub fn new() -> Result<ProbeSpace> {
        const { assert!(MOST_FLIPS < COLLECTED) };
        Ok(ProbeSpace {
            slots: zeroed()?,
            own: zeroed()?,
        })
    }
}

/// A chunk of rows, to be looked up in a table of the same chunk of others.
#[derive(Clone, Copy)]
pub struct ChunkProbe<'a> {
    /// The chunk of the rows that are looked up.
    pub chunk: ChunkColumn<'a>,
    /// Other bits of the same rows, those that the table has of its rows.
    pub beyond: ChunkColumn<'a>,
    /// Their popcounts.
    pub popcounts: &'a [u16],
    /// For each popcount of a row: with how many of `flips` its value is looked up, and in how many bits rows may
    /// differ beyond the chunk.
    pub limits: &'a [[u16; 2]],
    /// No more than [`MOST_FLIPS`].
    pub flips: &'a [u32],
    /// The same chunk of the rows among which they are looked up.
    pub table: &'a ChunkTable,
    /// Whether most values are those of no row.
    pub is_sparse: bool,
}

impl ChunkProbe<'_> {
    /// Calls `near` with rows of both kinds whose values differ by one of the flips, and which differ in few enough
    /// bits beyond the chunk; by chance with others, too, and with some more than once. It returns whether to go on
    /// with the row that is looked up. Returns how many pairs were compared. No more than [`ROWS_AT_ONCE`] rows.
    pub fn look_up(
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

    /// Nobody can foresee which values rows have and how many rows a bucket has. So there is no branch for either: what
    /// was not meant is written over.
    #[inline(always)]
    fn look_up_here(
        &self,
        rows: Range<usize>,
        space: &mut ProbeSpace,
        near: &mut impl FnMut(usize, usize) -> bool,
    ) -> u64 {
        let filter = &*self.table.filter;
        let to = &mut *space.slots;
        let (mut found, mut compared, first) = (0, 0, rows.start);
        for i in rows {
            let [count, limit] = self.limits[usize::from(self.popcounts[i])];
            let value = self.chunk.value(i);
            let flips = &self.flips[..usize::from(count)];
            let row = ((i - first) as u64) << 32;
            space.own[(i - first) % ROWS_AT_ONCE] = [self.beyond.value(i), u32::from(limit)];
            if self.is_sparse {
                for &flip in flips {
                    let slot = slot(value ^ flip);
                    to[found % (2 * COLLECTED)] = row | u64::from(slot);
                    found += (filter[word_of(slot)] >> (slot % 64) & 1) as usize;
                }
            } else {
                for &flip in flips {
                    to[found % (2 * COLLECTED)] = row | u64::from(slot(value ^ flip));
                    found += 1;
                }
            }
            if found >= COLLECTED {
                compared += self.compare(first, &to[..found], &space.own, near);
                found = 0;
            }
        }
        compared + self.compare(first, &to[..found], &space.own, near)
    }

    /// Compares rows with those of the buckets of slots.
    #[inline(always)]
    fn compare(
        &self,
        first: usize,
        slots: &[u64],
        own: &[[u32; 2]; ROWS_AT_ONCE],
        near: &mut impl FnMut(usize, usize) -> bool,
    ) -> u64 {
        let mut compared = 0;
        for &both in slots {
            let (i, slot) = ((both >> 32) as usize, both as u32);
            let [own, limit] = own[i % ROWS_AT_ONCE];
            let bucket = bucket_of(slot);
            let (start, end) = (self.table.starts[bucket], self.table.starts[bucket + 1]);
            let (mut from, end) = (usize::from(start), usize::from(end));
            compared += (end - from) as u64;
            // How many rows a bucket has nobody can foresee, so some of the next one are compared in vain.
            while from < end {
                let some = &self.table.beyond[from..from + AT_ONCE];
                let mut which = 0_u32;
                for (k, other) in some.iter().enumerate() {
                    let is_near = (own ^ other).count_ones() <= limit;
                    which |= u32::from(is_near) << k;
                }
                which &= (1 << (end - from).min(AT_ONCE)) - 1;
                if which != 0 && !self.tell(first + i, from, which, near) {
                    break;
                }
                from += AT_ONCE;
            }
        }
        compared
    }

    /// Tells of those rows of the table from `from` on that `which` says. Returns whether to go on with the row that is
    /// looked up.
    fn tell(
        &self,
        i: usize,
        from: usize,
        mut which: u32,
        near: &mut impl FnMut(usize, usize) -> bool,
    ) -> bool {
        while which != 0 {
            let at = from + which.trailing_zeros() as usize;
            which &= which - 1;
            if !near(i, usize::from(self.table.rows[at])) {
                return false;
            }
        }
        true
    }
}
