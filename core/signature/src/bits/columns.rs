//! Folds of some rows, as wide as it takes to tell rows apart that have nothing in common. They lie by columns, eight rows
//! at a time: word 0 of each of the eight, then word 1, and so on, so that a vector has a word of each row, and what is
//! counted of a row stays in its lane.

use std::ops::Range;

use super::fold::fold_into;
use super::kernel::near;
use base::memory::reserve;
use base::Result;

/// Rows whose words lie together.
pub(super) const EIGHT: usize = 8;

/// A word of each of eight rows, aligned to what a processor reads at once.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Eight([u64; EIGHT]);

/// Folds of rows that are side by side.
#[derive(Clone, Debug, Default)]
pub struct FoldColumns {
    width: usize,
    words: Vec<Eight>,
}

impl FoldColumns {
    /// Takes the folds of `width` words of these rows, which have `stride` words each, in place of what it has.
    ///
    /// Errors: out of memory.
    pub fn take(&mut self, rows: &[u64], stride: usize, width: usize) -> Result<()> {
        let size = (rows.len() / stride).div_ceil(EIGHT) * width;
        self.width = width;
        self.words.clear();
        reserve(&mut self.words, size)?;
        self.words.resize(size, Eight::default());
        for (i, row) in rows.chunks_exact(stride).enumerate() {
            let fold = &mut self.words[i / EIGHT * width..][..width];
            for some in row.chunks(width) {
                for (eight, word) in fold.iter_mut().zip(some) {
                    eight.0[i % EIGHT] ^= word;
                }
            }
        }
        Ok(())
    }

    /// Calls `is_near` with the number of each of the rows `rows` whose fold differs from this one in `limit` bits at most.
    /// It has the width of the folds that were taken.
    pub fn near(
        &self,
        fold: &[u64],
        rows: Range<usize>,
        limit: u32,
        mut is_near: impl FnMut(usize),
    ) {
        /// Eights that are compared before the rows that are near are told.
        const AT_ONCE: usize = 64;
        assert_eq!(fold.len(), self.width, "folds of different width");
        let eights = rows.start / EIGHT..rows.end.div_ceil(EIGHT);
        for first in eights.clone().step_by(AT_ONCE) {
            let some = first..eights.end.min(first + AT_ONCE);
            let mut bits = [0; AT_ONCE];
            let words = &self.words[some.start * self.width..some.end * self.width];
            near(words, fold, limit, &mut bits[..some.len()]);
            // Few are near, so that the bits of 64 rows are looked at together.
            for (i, bytes) in bits.as_chunks::<8>().0.iter().enumerate() {
                let mut bits = u64::from_le_bytes(*bytes);
                while bits != 0 {
                    let row = EIGHT * (first + 8 * i) + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    if rows.contains(&row) {
                        is_near(row);
                    }
                }
            }
        }
    }
}

/// Compares without special instructions; compiled once for each instruction set that calls it.
#[inline(always)]
pub(super) fn near_rows(columns: &[Eight], fold: &[u64], limit: u32, near: &mut [u8]) {
    // The inner loops are loops, and no iterators: what an iterator calls would be compiled without the caller's
    // instructions.
    for (rows, near) in columns.chunks_exact(fold.len()).zip(near) {
        let mut differ = [0; EIGHT];
        let mut w = 0;
        while w < fold.len() {
            let mut r = 0;
            while r < EIGHT {
                differ[r] += (rows[w].0[r] ^ fold[w]).count_ones();
                r += 1;
            }
            w += 1;
        }
        let (mut bits, mut r) = (0, 0);
        while r < EIGHT {
            bits |= u8::from(differ[r] <= limit) << r;
            r += 1;
        }
        *near = bits;
    }
}

// How wide folds have to be.

/// The widest folds.
const WIDEST: usize = 12;

/// What it costs to look at a row that passes, in words of a fold that are compared.
const PASSING: usize = 200;

/// What it costs to compare all words of a row at once, for each word of it.
const WHOLE: usize = 3;

/// Finds out how wide folds must be for some pairs of rows.
#[derive(Clone, Debug, Default)]
pub struct FoldWidth {
    pairs: usize,
    /// For each width: the pairs that pass.
    passing: [usize; WIDEST],
}

impl FoldWidth {
    /// Takes two rows into account, which are similar if they differ in `limit` bits at most.
    pub fn add(&mut self, (a, b): (&[u64], &[u64]), limit: u32) {
        self.pairs += 1;
        let differ: Vec<u64> = a.iter().zip(b).map(|(a, b)| a ^ b).collect();
        for (passing, width) in self.passing.iter_mut().zip(1..) {
            let mut fold = [0; WIDEST];
            let fold = &mut fold[..width];
            fold_into(fold, &differ);
            let count: u32 = fold.iter().map(|word| word.count_ones()).sum();
            *passing += usize::from(count <= limit);
        }
    }

    /// The width with which rows of `stride` words are compared soonest; none if that is without folds.
    pub fn best(&self, stride: usize) -> Option<usize> {
        let cost = |width: usize| self.pairs * width + self.passing[width - 1] * PASSING;
        let best = (1..=stride.min(WIDEST)).min_by_key(|&width| cost(width))?;
        (cost(best) < self.pairs * stride * WHOLE).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::kernels;
    use crate::split_mix::mix;
    use proptest::prelude::*;

    proptest! {
        /// Each kernel finds the rows whose folds are near, and so no row that is near is missed.
        #[test]
        fn finds_rows_whose_folds_are_near(
            (stride, width) in (1usize..30, 1usize..20),
            seeds in prop::collection::vec(any::<u64>(), 0..70),
            (from, limit) in (0usize..70, 0u32..400),
        ) {
            let word = |seed: u64, i: usize| {
                let mixed = (seed % 5 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32);
                mixed ^ 1u64.rotate_left((seed >> 8) as u32 % 64)
            };
            let row = |seed: u64| (0..stride).map(|i| word(seed, i)).collect::<Vec<u64>>();
            let folded = |row: &[u64]| {
                let mut fold = vec![0; width];
                fold_into(&mut fold, row);
                fold
            };
            let differ = |a: &[u64], b: &[u64]| -> u32 {
                a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
            };
            let rows: Vec<Vec<u64>> = seeds.iter().map(|&seed| row(seed)).collect();
            let query = row(3);
            let fold = folded(&query);
            let mut columns = FoldColumns::default();
            columns.take(&rows.concat(), stride, width).unwrap();
            let from = from.min(rows.len());
            let near = |i: &usize| differ(&folded(&rows[*i]), &fold) <= limit;
            let expected: Vec<usize> = (from..rows.len()).filter(near).collect();
            let mut found = vec![];
            columns.near(&fold, from..rows.len(), limit, |i| found.push(i));
            prop_assert_eq!(&found, &expected);
            for kernel in kernels() {
                let mut bits = vec![0; rows.len().div_ceil(EIGHT)];
                kernel.near(&columns.words, &fold, limit, &mut bits);
                let is_near = |i: &usize| bits[i / EIGHT] >> (i % EIGHT) & 1 == 1;
                let found: Vec<usize> = (from..rows.len()).filter(is_near).collect();
                prop_assert_eq!(&found, &expected, "{}", kernel.name);
            }
            for i in (from..rows.len()).filter(|&i| differ(&rows[i], &query) <= limit) {
                prop_assert!(expected.contains(&i));
            }
        }
    }

    #[test]
    fn width_is_what_tells_rows_apart() {
        let rows = |n: u64| -> Vec<Vec<u64>> {
            let row = |i: u64| (0..16).map(|w| mix(n << 32 | i << 8 | w)).collect();
            (0..512).map(row).collect()
        };
        let (a, b) = (rows(1), rows(2));
        let best = |limit| {
            let mut width = FoldWidth::default();
            a.iter().zip(&b).for_each(|(a, b)| width.add((a, b), limit));
            width.best(16)
        };
        // Of random rows half of the bits differ, by a deviation of the root of a quarter of them.
        assert_eq!(best(0), Some(1));
        assert_eq!(best(140), Some(6));
        assert_eq!(best(600), None);
    }
}
