//! What the searches of columns cost, in nanoseconds, as a sample says.

use bloom_ident_core::similarity::{Popcounts, SearchCosts};

use super::sample::{ProfileSample, SampledProfile};
use crate::pg::check_for_interrupts;

/// A search for a row that is similar by this or more, in all others, where its signature is one of a short text. It doubles with each twelfth
/// that the similarity falls, until comparing all signatures is cheaper.
const A_ROW: f64 = 12_000.0;
const AT: f64 = 0.8;
const TWELFTHS: f64 = 12.0;

/// A comparison of two signatures, for each bit.
const A_BIT: f64 = 1.5 / 581.0;

/// A pair that is found by an index, whose rows are fetched, and one that is found among stored profiles.
const FETCHED: f64 = 2_000.0;
const STORED: f64 = 700.0;

/// Reading a record, and a signature of it.
const A_RECORD: f64 = 3_000.0;
const A_SIGNATURE: f64 = 600.0;

/// Similarities are counted in so many steps.
const STEPS: usize = 128;

/// What is known of a column.
struct ColumnSample {
    /// The share of all pairs of records that are so similar, in steps, or more.
    pairs: [f64; STEPS + 1],
    /// The share of records that have a signature.
    filled: f64,
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
}

impl SampledCosts {
    /// `indexed` says which columns are searched by indexes; none if it is empty.
    pub fn new(sample: &ProfileSample, indexed: &[bool]) -> SampledCosts {
        let left = &sample.left;
        let columns = left.profiles.first().map_or(0, Vec::len);
        let columns = (0..columns.max(indexed.len()))
            .map(|column| ColumnSample::of(sample, column, indexed.get(column) == Some(&true)))
            .collect();
        let (searched, records, pairs) = match &sample.right {
            None => {
                let n = left.records;
                (n, n, n * n / 2.0)
            }
            Some(right) => {
                let (a, b) = (left.records, right.records);
                (a.min(b), a + b, a * b)
            }
        };
        SampledCosts {
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

impl ColumnSample {
    fn of(sample: &ProfileSample, column: usize, indexed: bool) -> ColumnSample {
        let left = &sample.left.profiles;
        let mut found = [0u32; STEPS + 1];
        let mut compared = 0u64;
        for (i, profile) in left.iter().enumerate() {
            check_for_interrupts();
            let others = match &sample.right {
                Some(right) => &right.profiles[..],
                None => &left[i + 1..],
            };
            compared += others.len() as u64;
            let Some(a) = bits(profile, column) else {
                continue;
            };
            for b in others.iter().filter_map(|other| bits(other, column)) {
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
        ColumnSample {
            pairs,
            filled: filled.clone().count() as f64 / left.len().max(1) as f64,
            bits: filled.map(|bits| 8 * bits.len()).max().unwrap_or(0) as f64,
            indexed,
        }
    }
}

impl SearchCosts for SampledCosts {
    fn search(&self, attribute: usize, bound: f64) -> f64 {
        let Some(column) = self.columns.get(attribute) else {
            return 0.0;
        };
        let by_lists = self.searched * column.filled * A_ROW * ((AT - bound) * TWELFTHS).exp2();
        let by_comparing = self.pairs * column.filled * column.filled * A_BIT * column.bits;
        let step = (bound * STEPS as f64) as usize;
        let found = self.pairs * column.pairs[step.min(STEPS)];
        let a_pair = if column.indexed { FETCHED } else { STORED };
        by_lists.min(by_comparing) + found * a_pair
    }

    fn together(&self, attributes: &[usize]) -> f64 {
        let reads = |&i: &usize| self.columns.get(i).is_some_and(|column| !column.indexed);
        if !attributes.iter().any(reads) {
            return 0.0;
        }
        self.records * (A_RECORD + A_SIGNATURE * self.columns.len() as f64)
    }
}
