//! Looking up a chunk of the bits of many rows among other rows that were listed by it.

use super::fold::Fold;

/// Some bits of a row that are next to each other, 32 at the most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BitRange {
    /// The word that the first bit is in.
    word: usize,
    /// The next one, if the row has one.
    next: usize,
    shift: u32,
    mask: u64,
}

impl BitRange {
    /// The bits from number `from` on, before number `to`, of rows of `stride` words.
    pub(crate) fn new(from: usize, to: usize, stride: usize) -> BitRange {
        debug_assert!((1..=32).contains(&(to - from)), "a chunk has 1 to 32 bits");
        BitRange {
            word: from / 64,
            next: (from / 64 + 1).min(stride - 1),
            shift: (from % 64) as u32,
            mask: (1 << (to - from)) - 1,
        }
    }

    /// The value of these bits in a row.
    #[inline(always)]
    pub(crate) fn of(&self, row: &[u64]) -> u64 {
        let low = row[self.word] >> self.shift;
        // Bits of the same word once more are beyond the mask.
        (low | (row[self.next] << 1) << (63 - self.shift)) & self.mask
    }
}

/// Rows listed by the value of some bits, in buckets of values.
#[derive(Clone, Copy)]
pub(crate) struct ChunkList<'a> {
    pub(crate) bits: BitRange,
    /// Where each bucket begins in `rows`, and where the last one ends.
    pub(crate) starts: &'a [u16],
    /// There are [`AT_ONCE`] more behind the last bucket, whatever they are.
    pub(crate) rows: &'a [u16],
}

/// Rows of a bucket that are taken at once.
pub(crate) const AT_ONCE: usize = 4;

/// Rows that are looked up at once.
const ROWS_AT_ONCE: usize = 256;

impl ChunkList<'_> {
    /// The bucket of a value, below 2^`log`.
    #[inline(always)]
    pub(crate) fn bucket(value: u64, log: u32) -> usize {
        // 2^64 divided by the golden ratio
        (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - log)) as usize
    }
}

/// Rows that are looked up, and the folds of all.
#[derive(Clone, Copy)]
pub(crate) struct ChunkProbe<'a> {
    /// The rows that are looked up, `stride` words each.
    pub(crate) words: &'a [u64],
    pub(crate) stride: usize,
    pub(crate) folds: &'a [Fold],
    pub(crate) list: ChunkList<'a>,
    /// The folds of the rows that are listed.
    pub(crate) listed: &'a [Fold],
    /// The greatest number of bits that may differ.
    pub(crate) limit: u32,
}

impl ChunkProbe<'_> {
    /// Adds to `out` the pairs of a row that is looked up and a row in the bucket of its value, by their numbers, whose folds differ
    /// little enough. There are 2^16 rows of both kinds at the most. `pairs` is for the pairs on their way.
    pub(crate) fn near(&self, pairs: &mut Vec<[u16; 2]>, out: &mut Vec<[u16; 2]>) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instruction.
            unsafe { self.near_popcnt(pairs, out) };
            return;
        }
        self.near_here(pairs, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn near_popcnt(&self, pairs: &mut Vec<[u16; 2]>, out: &mut Vec<[u16; 2]>) {
        self.near_here(pairs, out);
    }

    /// Nobody can foresee how many rows a bucket has, and which folds differ little. So there is no branch for either: what was
    /// not meant is written over.
    #[inline(always)]
    fn near_here(&self, pairs: &mut Vec<[u16; 2]>, out: &mut Vec<[u16; 2]>) {
        let log = (self.list.starts.len() - 1).ilog2();
        let (starts, rows) = (self.list.starts, self.list.rows);
        let n = self.folds.len();
        let mut from = 0;
        while from < n {
            let to = n.min(from + ROWS_AT_ONCE);
            pairs.resize(ROWS_AT_ONCE * AT_ONCE, [0; 2]);
            let mut found = 0;
            for i in from..to {
                let row = &self.words[i * self.stride..(i + 1) * self.stride];
                let bucket = ChunkList::bucket(self.list.bits.of(row), log);
                let (start, end) = (usize::from(starts[bucket]), usize::from(starts[bucket + 1]));
                let first = &rows[start..start + AT_ONCE];
                for (to, &listed) in pairs[found..found + AT_ONCE].iter_mut().zip(first) {
                    *to = [i as u16, listed];
                }
                found += (end - start).min(AT_ONCE);
                if end - start > AT_ONCE {
                    for &listed in &rows[start + AT_ONCE..end] {
                        self.compare([i as u16, listed], out);
                    }
                }
            }
            let kept = out.len();
            out.resize(kept + found + 1, [0; 2]);
            let (mut at, to) = (0, &mut out[kept..]);
            for &pair in &pairs[..found] {
                to[at] = pair;
                at += usize::from(self.is_near(pair));
            }
            out.truncate(kept + at);
            from += ROWS_AT_ONCE;
        }
    }

    #[inline(always)]
    fn is_near(&self, [row, listed]: [u16; 2]) -> bool {
        let (a, b) = (
            &self.folds[usize::from(row)],
            &self.listed[usize::from(listed)],
        );
        (a[0] ^ b[0]).count_ones() + (a[1] ^ b[1]).count_ones() <= self.limit
    }

    #[inline(always)]
    fn compare(&self, pair: [u16; 2], out: &mut Vec<[u16; 2]>) {
        if self.is_near(pair) {
            out.push(pair);
        }
    }
}
