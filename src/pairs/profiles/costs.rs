//! What the searches of columns cost, in nanoseconds, as a sample says.

use std::collections::HashMap;

use sigfile::costs::{
    PROFILE_BIT, PROFILE_FETCHED, PROFILE_IN_FILE, PROFILE_RECORD, PROFILE_ROW, PROFILE_SIGNATURE,
    PROFILE_SORTED, PROFILE_STORED,
};
use signature::similarity::Popcounts;

use super::sample::{ProfileSample, SampledProfile};
use pg::check_for_interrupts;

/// [`PROFILE_ROW`] is that of a search among so many rows for what is similar by this or more. It doubles with each
/// twelfth that the similarity falls, and grows with the root of the rows, until comparing all signatures is cheaper.
const AMONG: f64 = 1e5;
const AT: f64 = 0.8;
const TWELFTHS: f64 = 12.0;

/// Similarities are counted in so many steps.
const STEPS: usize = 128;

/// What is known of a column.
struct ColumnSample {
    /// The share of all pairs of records that are so similar, in steps, or more.
    pairs: [f64; STEPS + 1],
    /// The share of records that have a signature.
    filled: f64,
    /// Records with a signature that none before them has, about. Only these are searched for: rows that are equal are
    /// found together.
    distinct: f64,
    /// Bits of a signature.
    bits: f64,
    indexed: bool,
}

/// Estimates the cost of searches.
pub struct SampledCosts {
    columns: Vec<ColumnSample>,
    /// Records that are searched for, records of both relations, and pairs of them.
    searched: f64,
    records: f64,
    pairs: f64,
    /// The cost of a search for a row.
    a_row: f64,
    /// Whether stored profiles stay in memory.
    in_memory: bool,
}

impl SampledCosts {
    /// `indexed` says which columns have indexes; none if it is empty. Profiles may take `memory` bytes. Pairs are
    /// wanted with so many `new` records, or all pairs.
    pub fn new(
        sample: &ProfileSample,
        indexed: &[bool],
        memory: usize,
        new: Option<u64>,
    ) -> SampledCosts {
        let left = &sample.left;
        let columns = left.profiles.first().map_or(0, Vec::len);
        let columns = (0..columns.max(indexed.len()))
            .map(|column| ColumnSample::new(sample, column, indexed.get(column) == Some(&true)))
            .collect::<Vec<ColumnSample>>();
        let (searched, records, pairs) = match &sample.right {
            None if new.is_some_and(|new| (new as f64) < left.records) => {
                let (n, new) = (left.records, new.unwrap_or(0) as f64);
                (new, n, new * n)
            }
            None => {
                let n = left.records;
                (n, n, n * n / 2.0)
            }
            Some(right) => {
                let (a, b) = (left.records, right.records);
                (a.min(b), a + b, a * b)
            }
        };
        let bits = columns.iter().map(|column| column.filled * column.bits);
        let profiles = records * bits.sum::<f64>() / 8.0;
        SampledCosts {
            in_memory: profiles < memory as f64,
            a_row: PROFILE_ROW * (records / AMONG).sqrt(),
            columns,
            searched,
            records,
            pairs,
        }
    }
}

fn bits(profile: &SampledProfile, column: usize) -> Option<&[u8]> {
    profile.get(column)?.as_deref()
}

/// How many different values there are among so many, of which some were sampled: the estimate of ANALYZE (P. J. Haas,
/// L. Stokes: Estimating the number of classes in a finite population, 1998, the estimator Duj1).
fn distinct<'a>(sampled: impl Iterator<Item = &'a [u8]>, all: f64) -> f64 {
    let mut counts = HashMap::<&[u8], u32>::new();
    for value in sampled {
        *counts.entry(value).or_default() += 1;
    }
    let n: f64 = counts.values().map(|&count| f64::from(count)).sum();
    let once = counts.values().filter(|&&count| count == 1).count() as f64;
    let different = n - once + once * n / all.max(n).max(1.0);
    (n * counts.len() as f64 / different.max(1.0)).min(all)
}

impl ColumnSample {
    fn new(sample: &ProfileSample, column: usize, indexed: bool) -> ColumnSample {
        let left = &sample.left.profiles;
        let mut found = [0u32; STEPS + 1];
        let mut compared = 0u64;
        for (i, profile) in left.iter().enumerate() {
            check_for_interrupts();
            let others = match &sample.right {
                Some(right) => &right.profiles[..],
                None => &left[i + 1..],
            };
            let first = i + 1;
            let is_counted = |&(k, _): &(usize, &SampledProfile)| {
                sample.right.is_some() || sample.left.are_independent(i, first + k)
            };
            let others = others.iter().enumerate().filter(is_counted);
            compared += others.clone().count() as u64;
            let Some(a) = bits(profile, column) else {
                continue;
            };
            for b in others.filter_map(|(_, other)| bits(other, column)) {
                // Those of two shapes are an error, which is raised by whoever finds them.
                if a.len() == b.len() {
                    let similarity = Popcounts::of_bits(a, b).jaccard();
                    found[(similarity * STEPS as f64) as usize] += 1;
                }
            }
        }
        let mut pairs = [0.0; STEPS + 1];
        let mut above = 0.0;
        for (share, &found) in pairs.iter_mut().zip(&found).rev() {
            above += f64::from(found) / compared.max(1) as f64;
            *share = above;
        }
        let filled = left.iter().filter_map(|profile| bits(profile, column));
        let share = filled.clone().count() as f64 / left.len().max(1) as f64;
        ColumnSample {
            pairs,
            filled: share,
            distinct: distinct(filled.clone(), share * sample.left.records),
            bits: filled.map(|bits| 8 * bits.len()).max().unwrap_or(0) as f64,
            indexed,
        }
    }
}

impl SampledCosts {
    /// The search of a column by its index, and the join of what a query has read of it.
    fn ways(&self, (column, bound): (usize, f64)) -> (Option<f64>, f64) {
        let Some(sampled) = self.columns.get(column) else {
            return (None, 0.0);
        };
        let searched = sampled.distinct.min(self.searched);
        let by_lists = searched * self.a_row * ((AT - bound) * TWELFTHS).exp2();
        let others = self.pairs / self.searched.max(1.0) * sampled.filled;
        let by_comparing = searched * others * PROFILE_BIT * sampled.bits;
        let search = by_lists.min(by_comparing);
        let step = (bound * STEPS as f64) as usize;
        let found = self.pairs * sampled.pairs[step.min(STEPS)];
        let by_index = sampled.indexed.then_some(search + found * PROFILE_FETCHED);
        let sorting = self.records * sampled.filled * PROFILE_SORTED;
        let a_pair = if self.in_memory {
            PROFILE_STORED
        } else {
            PROFILE_IN_FILE
        };
        (by_index, sorting + search + found * a_pair)
    }

    /// The cost of the best way to do some searches, and those that are joins then: none if indexes serve all of them,
    /// and that is cheaper than to read the records.
    fn best(&self, searches: &[(usize, f64)]) -> (f64, Vec<usize>) {
        let indexes = searches.iter().map(|&search| self.ways(search).0);
        let indexes: Option<f64> = indexes.sum();
        let mut cost =
            self.records * (PROFILE_RECORD + PROFILE_SIGNATURE * self.columns.len() as f64);
        let mut joined = Vec::new();
        for &search in searches {
            let (by_index, join) = self.ways(search);
            cost += by_index.map_or(join, |by_index| by_index.min(join));
            if by_index.is_none_or(|by_index| join < by_index) {
                joined.push(search.0);
            }
        }
        match indexes {
            Some(indexes) if indexes <= cost => (indexes, Vec::new()),
            _ => (cost, joined),
        }
    }

    /// What searches of columns, each for its similarity, are expected to cost.
    pub fn cost(&self, searches: &[(usize, f64)]) -> f64 {
        self.best(searches).0
    }

    /// The columns of a plan that are joined after a query has read them; indexes serve the others.
    pub fn joined(&self, searches: &[(usize, f64)]) -> Vec<usize> {
        self.best(searches).1
    }
}
