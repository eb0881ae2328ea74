//! Chunks: the bits of a signature dealt into neighbouring stretches that each tell about as many rows
//! apart as there are, as multi-index hashing (Norouzi, Punjani, Fleet; see [`super::budget`]) has them, but of the
//! same entropy and not of the same width.

use signature::similarity::Measure;

/// A stretch of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// First bit.
    pub start: u32,
    /// Number of bits, 1 to [`Chunk::MAX_WIDTH`].
    pub width: u32,
}

impl Chunk {
    /// So that a value is a u32.
    pub const MAX_WIDTH: u32 = u32::BITS;

    /// The chunk's bits of a row, the first one lowest.
    #[inline]
    pub fn value(&self, words: &[u64]) -> u32 {
        let (word, shift) = (self.start as usize / 64, self.start % 64);
        let low = words[word] >> shift;
        let high = match words.get(word + 1) {
            Some(next) if shift > 0 => next << (64 - shift),
            _ => 0,
        };
        ((low | high) & ((1 << self.width) - 1)) as u32
    }
}

/// Most chunks of a segment.
pub const MAX_CHUNKS: usize = 128;

/// Segments of fewer rows have no chunks: scanning them is as quick.
pub const MIN_ROWS: u32 = 2048;

/// Measured on names of 301 bits at 0.8 and 0.7, milliseconds: a hundred thousand with 15 chunks 0.10 and 0.32, 16 0.10
/// and 0.33, 17 0.10 and 0.32; a million with 12 chunks 0.25 and 2.7, 13 0.29 and 2.0, 14 0.32 and 2.4; ten million
/// with 10 chunks 1.5 and 22, 11 1.1 and 15, 12 1.1 and 14, 13 2.3. This gives 15, 13 and 11.
const SPARE: f64 = 1.5;

/// The same of sketches, whose bits are independent of each other, so that entropies add up. Measured on a million rows
/// at estimates of 0.8, 0.7 and 0.65, milliseconds: 192 bits with 9 chunks 0.21, 0.70, 1.5, 10 0.16, 0.64, 1.5, 11
/// 0.25, 0.87, 1.4; 128 bits with 6 chunks 0.13, 0.62, 1.1, 7 0.16, 0.63, 1.1; 256 with 12 0.19, 0.89, 1.9, 13 0.17,
/// 0.72, 1.7, 14 0.22, 0.93, 1.7; 512 with 25 0.35, 1.6, 3.7, 26 0.29, 1.4, 3.5, 28 0.55, 2.1, 3.7; on a hundred
/// thousand of 192 bits with 10 0.07, 0.19, 11 0.08, 0.19, 12 0.09, 0.21. This gives 10, 6, 13, 26 and 11. On a million
/// messages of 10 to 40 words by Zipf's law, which agree in 0.53 of their bits by their frequent words, 192 bits with 8
/// chunks 0.19, 1.13, 3.8, 9 0.20, 0.97, 1.9, 10 0.24, 0.96, 1.9, 11 0.32, 1.1, 3.8. This gives 9.
const SPARE_OF_COINS: f64 = 0.1;

/// How often each bit is set in a sample of rows.
#[derive(Clone, Debug)]
pub struct Frequencies {
    rows: u32,
    set: Vec<u32>,
    measure: Measure,
}

impl Frequencies {
    /// No rows as yet, of so many bits, that are compared by a measure.
    pub fn new(bits: u32, measure: Measure) -> Self {
        Frequencies {
            rows: 0,
            set: vec![0; bits as usize],
            measure,
        }
    }

    /// Those of bits that are as fair coins, as those of sketches are.
    pub fn of_coins(bits: u32) -> Self {
        Frequencies {
            rows: 2,
            set: vec![1; bits as usize],
            ..Self::new(0, Measure::Agreement { bits })
        }
    }

    /// Bits beyond those of the shape do not count.
    pub fn add(&mut self, words: &[u64]) {
        self.rows += 1;
        for (i, &word) in words.iter().enumerate() {
            // by words: bitvec's iter_ones makes writing a whole segment take half as many instructions again
            let mut word = word;
            while word != 0 {
                if let Some(set) = self.set.get_mut(64 * i + word.trailing_zeros() as usize) {
                    *set += 1;
                }
                word &= word - 1;
            }
        }
    }

    /// Entropy of a bit, in bits: Shannon's of signatures. Of sketches it is the collision entropy, −log2 of how often
    /// two rows agree: sets with frequent tokens in common agree in more than half of their bits, and so share the
    /// value of a chunk more often.
    fn entropy(&self, bit: usize) -> f64 {
        let p = f64::from(self.set[bit]) / f64::from(self.rows.max(1));
        if p <= 0.0 || p >= 1.0 {
            return 0.0;
        }
        match self.measure {
            Measure::Jaccard => -p * p.log2() - (1.0 - p) * (1.0 - p).log2(),
            Measure::Agreement { .. } => -(p * p + (1.0 - p) * (1.0 - p)).log2(),
        }
    }

    /// Entropy of all bits as if they were independent.
    pub fn total_entropy(&self) -> f64 {
        (0..self.set.len()).map(|bit| self.entropy(bit)).sum()
    }

    /// The chunks for a segment of `rows` rows; `wanted` of them, or as many as give each about
    /// [`SPARE`], or [`SPARE_OF_COINS`], bits of entropy more than log2(rows). All bits are dealt, in order, each chunk
    /// with the same share of the entropy.
    pub fn deal(&self, rows: u32, wanted: Option<u32>) -> Vec<Chunk> {
        if rows < MIN_ROWS || self.set.is_empty() {
            return Vec::new();
        }
        let bits = self.set.len() as u32;
        let total = self.total_entropy();
        let spare = match self.measure {
            Measure::Jaccard => SPARE,
            Measure::Agreement { .. } => SPARE_OF_COINS,
        };
        let own = (total / (f64::from(rows).log2() + spare)).round() as u32;
        let least = bits.div_ceil(Chunk::MAX_WIDTH);
        let count = wanted
            .unwrap_or(own)
            .clamp(1, bits)
            .clamp(least.min(MAX_CHUNKS as u32), MAX_CHUNKS as u32);
        let mut chunks = Vec::with_capacity(count as usize);
        let (mut start, mut seen) = (0u32, 0.0);
        for i in 1..=count {
            // so many bits have to be left for the chunks to come, and no more than they can hold
            let left = count - i;
            let most = (bits - left).min(start + Chunk::MAX_WIDTH);
            let least = (start + 1).max(bits.saturating_sub(left * Chunk::MAX_WIDTH));
            let target = total * f64::from(i) / f64::from(count);
            let mut end = start;
            while end < most && (end < least || seen < target || i == count) {
                let next = seen + self.entropy(end as usize);
                // to the nearer side
                if end >= least && i < count && next - target > target - seen {
                    break;
                }
                seen = next;
                end += 1;
            }
            chunks.push(Chunk {
                start,
                width: end - start,
            });
            start = end;
            if start == bits {
                break;
            }
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_disjoint_and_balanced() {
        for bits in [5u32, 31, 64, 301, 581, 2032, 8000] {
            for skew in [1u32, 3, 50] {
                let mut f = Frequencies::new(bits, Measure::Jaccard);
                f.rows = 1000;
                for (i, set) in f.set.iter_mut().enumerate() {
                    *set = 500 / (1 + i as u32 % skew);
                }
                for rows in [2048, 100_000, 10_000_000] {
                    for wanted in [None, Some(1), Some(7), Some(128)] {
                        let chunks = f.deal(rows, wanted);
                        assert!(!chunks.is_empty() && chunks.len() <= MAX_CHUNKS);
                        let mut next = 0;
                        for c in &chunks {
                            assert_eq!(c.start, next);
                            assert!((1..=Chunk::MAX_WIDTH).contains(&c.width));
                            next += c.width;
                        }
                        assert!(next <= bits);
                        if bits <= 32 * MAX_CHUNKS as u32 {
                            assert_eq!(next, bits, "{bits} {skew} {rows} {wanted:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_value_is_the_bits_in_order() {
        let words = [0x8000_0000_0000_0001, 0b101];
        let value = |start, width| Chunk { start, width }.value(&words);
        assert_eq!(value(0, 3), 1);
        assert_eq!(value(63, 4), 0b1011);
        assert_eq!(value(64, 32), 5);
        assert_eq!(value(63, 32), 11);
    }
}
