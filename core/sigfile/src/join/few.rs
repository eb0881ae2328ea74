//! Joining few rows by comparing each with each: for some thousand of them that is quicker than lists of their chunks.

use crate::query::Query;
use crate::rows::{Geometry, SignatureRow};
use base::memory::reserve;
use base::Result;
use signature::bits::intersect_words;
use signature::similarity::{LeastCommon, Measure, Popcounts};

/// Rows of one geometry, side by side in memory.
#[derive(Clone, Debug, Default)]
pub struct FewRows {
    stride: usize,
    words: Vec<u64>,
    popcounts: Vec<u32>,
    numbers: Vec<u64>,
}

impl FewRows {
    /// No rows.
    pub fn new(geometry: &Geometry) -> FewRows {
        FewRows {
            stride: geometry.stride,
            ..FewRows::default()
        }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Bytes of a row, with what joining it takes.
    pub fn bytes_of_row(geometry: &Geometry) -> usize {
        2 * (8 * geometry.stride + size_of::<u32>() + size_of::<u64>())
    }

    /// Adds a row of the geometry; its tid is any number.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        self.reserve(1)?;
        self.words.extend_from_slice(row.words);
        self.popcounts.push(row.popcount);
        self.numbers.push(row.tid);
        Ok(())
    }

    /// Forgets the rows, and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.popcounts.clear();
        self.numbers.clear();
    }

    /// The rows as they were pushed.
    pub fn rows(&self) -> impl Iterator<Item = SignatureRow<'_>> {
        (0..self.len()).map(|i| SignatureRow {
            words: self.words(i),
            popcount: self.popcounts[i],
            threshold: 0.0,
            key: 0,
            tid: self.numbers[i],
        })
    }

    fn words(&self, i: usize) -> &[u64] {
        &self.words[i * self.stride..(i + 1) * self.stride]
    }

    fn reserve(&mut self, rows: usize) -> Result<()> {
        reserve(&mut self.words, rows * self.stride)?;
        reserve(&mut self.popcounts, rows)?;
        reserve(&mut self.numbers, rows)
    }

    /// Takes the rows of another in the order of their popcounts.
    fn sort_from(&mut self, rows: &FewRows, order: &mut Vec<u32>) -> Result<()> {
        self.clear();
        self.stride = rows.stride;
        self.reserve(rows.len())?;
        order.clear();
        reserve(order, rows.len())?;
        order.extend(0..rows.len() as u32);
        order.sort_unstable_by_key(|&i| (rows.popcounts[i as usize], i));
        for i in order.iter().map(|&i| i as usize) {
            self.words.extend_from_slice(rows.words(i));
            self.popcounts.push(rows.popcounts[i]);
            self.numbers.push(rows.numbers[i]);
        }
        Ok(())
    }

    /// The first row of at least so many bits.
    fn first_of(&self, popcount: u32) -> usize {
        self.popcounts.partition_point(|&p| p < popcount)
    }
}

/// Up to so many rows are compared pair by pair: to prepare a scan for a row costs as much as that.
const PAIR_BY_PAIR: usize = 24;

/// Joins few rows at a time, again and again.
pub struct FewJoin {
    query: Query,
    measure: Measure,
    least: LeastCommon,
    sorted: FewRows,
    order: Vec<u32>,
}

impl FewJoin {
    /// Of rows of this geometry whose similarity is at least `threshold`, in [0,1].
    pub fn new(geometry: &Geometry, threshold: f64) -> FewJoin {
        FewJoin {
            query: Query::new(geometry, &vec![0; geometry.stride], threshold),
            measure: geometry.measure,
            least: LeastCommon::new(geometry.measure, threshold),
            sorted: FewRows::new(geometry),
            order: Vec::new(),
        }
    }

    /// Calls `hit` with the numbers and the similarity of every pair of these rows, each pair once, and `tick` for each
    /// row.
    ///
    /// Errors: out of memory.
    pub fn within(
        &mut self,
        rows: &FewRows,
        tick: &mut impl FnMut(),
        hit: &mut impl FnMut(u64, u64, f64),
    ) -> Result<()> {
        if rows.len() <= PAIR_BY_PAIR {
            for i in 1..rows.len() {
                tick();
                self.one_by_one(rows, i, rows, i, hit);
            }
            return Ok(());
        }
        self.sorted.sort_from(rows, &mut self.order)?;
        for i in 0..self.sorted.len() {
            tick();
            let (words, popcount) = (self.sorted.words(i), self.sorted.popcounts[i]);
            self.query.replace(words, popcount);
            let number = self.sorted.numbers[i];
            self.scan(i + 1, &mut |other, similarity| {
                hit(number, other, similarity)
            });
        }
        Ok(())
    }

    /// The same for pairs of a row of `rows` and one of `others`; the number of the former comes first.
    ///
    /// Errors: out of memory.
    pub fn between(
        &mut self,
        rows: &FewRows,
        others: &FewRows,
        tick: &mut impl FnMut(),
        hit: &mut impl FnMut(u64, u64, f64),
    ) -> Result<()> {
        if others.len() <= PAIR_BY_PAIR {
            for i in 0..rows.len() {
                tick();
                self.one_by_one(rows, i, others, others.len(), hit);
            }
            return Ok(());
        }
        self.sorted.sort_from(others, &mut self.order)?;
        for i in 0..rows.len() {
            tick();
            self.query.replace(rows.words(i), rows.popcounts[i]);
            let number = rows.numbers[i];
            self.scan(0, &mut |other, similarity| hit(number, other, similarity));
        }
        Ok(())
    }

    /// Compares row `i` with the first `n` of `others`.
    fn one_by_one(
        &self,
        rows: &FewRows,
        i: usize,
        others: &FewRows,
        n: usize,
        hit: &mut impl FnMut(u64, u64, f64),
    ) {
        for j in 0..n {
            let (a, b) = (rows.popcounts[i], others.popcounts[j]);
            let Some(least) = self.least.bits(a, b) else {
                continue;
            };
            let common = intersect_words(rows.words(i), others.words(j));
            if common >= least {
                let similarity = self.measure.similarity(Popcounts { a, b, common });
                hit(rows.numbers[i], others.numbers[j], similarity);
            }
        }
    }

    /// Looks for the query among the sorted rows from number `from` on.
    fn scan(&self, from: usize, hit: &mut impl FnMut(u64, f64)) {
        let Some((low, high)) = self.query.window() else {
            return;
        };
        let FewRows {
            stride,
            words,
            popcounts,
            numbers,
        } = &self.sorted;
        let from = from.max(self.sorted.first_of(low));
        let to = self.sorted.first_of(high.saturating_add(1));
        if from >= to {
            return;
        }
        let popcounts = &popcounts[from..to];
        let words = &words[from * stride..to * stride];
        self.query.scan_words(words, popcounts, |k, common| {
            let similarity = self.query.similarity(popcounts[k], common);
            hit(numbers[from + k], similarity);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows_of(geometry: &Geometry, seeds: &[u64], first: u64) -> FewRows {
        let mut rows = FewRows::new(geometry);
        for (i, &seed) in seeds.iter().enumerate() {
            let word = |k: usize| {
                let mixed = (seed % 7 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (mixed.rotate_left(11 * k as u32) & !(1 << (seed >> 8 & 63)))
                    & (u64::MAX >> (seed >> 16 & 15))
            };
            let mut words: Vec<u64> = (0..geometry.stride).map(word).collect();
            if seed % 5 == 0 {
                words.fill(0);
            }
            let spare = 64 * geometry.stride as u32 - geometry.bits;
            *words.last_mut().unwrap() &= u64::MAX >> spare;
            let row = SignatureRow {
                popcount: words.iter().map(|w| w.count_ones()).sum(),
                words: &words,
                threshold: 0.0,
                key: 0,
                tid: first + i as u64,
            };
            rows.push(row).unwrap();
        }
        rows
    }

    fn plain(
        measure: Measure,
        (a, b): (SignatureRow<'_>, SignatureRow<'_>),
        threshold: f64,
    ) -> Option<(u64, u64, f64)> {
        let both = a.words.iter().zip(b.words);
        let common = both.map(|(a, b)| (a & b).count_ones()).sum();
        let counts = Popcounts {
            a: a.popcount,
            b: b.popcount,
            common,
        };
        (measure.similarity(counts) >= threshold)
            .then(|| (a.tid, b.tid, measure.similarity(counts)))
    }

    proptest! {
        /// All ways find what a loop over all pairs finds.
        #[test]
        fn finds_what_a_loop_finds(
            seeds in prop::collection::vec(any::<u64>(), 0..80),
            more in prop::collection::vec(any::<u64>(), 0..80),
            (bits, agreement) in (1u32..400, any::<bool>()),
            threshold in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64],
        ) {
            let mut geometry = Geometry::new(1024, bits, false, false).unwrap();
            if agreement {
                geometry = geometry.with_bits(bits, Measure::Agreement { bits }).unwrap();
            }
            let measure = geometry.measure;
            let (rows, others) = (rows_of(&geometry, &seeds, 0), rows_of(&geometry, &more, 1000));
            let mut join = FewJoin::new(&geometry, threshold);
            for _ in 0..2 {
                let mut found = Vec::new();
                join.within(&rows, &mut || (), &mut |a, b, s| found.push((a.min(b), a.max(b), s))).unwrap();
                let all = |(i, a)| rows.rows().skip(i + 1).filter_map(move |b| plain(measure, (a, b), threshold));
                let mut expected: Vec<_> = rows.rows().enumerate().flat_map(all).collect();
                found.sort_by(|a, b| a.partial_cmp(b).unwrap());
                expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
                prop_assert_eq!(found, expected);
                let mut found = Vec::new();
                join.between(&rows, &others, &mut || (), &mut |a, b, s| found.push((a, b, s))).unwrap();
                let all = |a| others.rows().filter_map(move |b| plain(measure, (a, b), threshold));
                let mut expected: Vec<_> = rows.rows().flat_map(all).collect();
                found.sort_by(|a, b| a.partial_cmp(b).unwrap());
                expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
                prop_assert_eq!(found, expected);
            }
        }
    }
}
