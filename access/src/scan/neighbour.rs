//! Rows on their way into the order of their distances.

use std::cmp::Ordering;

use sigfile::{Query, SignatureRow};

use super::index_scan::Hit;
use pg::file::SortedRecords;
use pg::tid::Tid;

/// Order-by keys of a scan.
pub const MAX_KEYS: usize = 4;

/// A row, and how near it is.
#[derive(Clone, Copy)]
pub struct Neighbour {
    /// Similarities, the first to order by.
    pub similarities: [f64; MAX_KEYS],
    pub hit: Hit,
}

impl Neighbour {
    /// The nearest first; tids make the order total.
    pub fn order(&self, other: &Neighbour) -> Ordering {
        let pairs = other.similarities.iter().zip(&self.similarities);
        let by_keys = pairs.map(|(a, b)| a.total_cmp(b));
        let by_keys = by_keys.fold(Ordering::Equal, Ordering::then);
        by_keys.then(self.hit.tid.cmp(&other.hit.tid))
    }

    /// Numbers that have the same order.
    pub fn record<const N: usize>(&self) -> [u64; N] {
        let mut record = [0; N];
        let keys = N - REST;
        for (to, similarity) in record.iter_mut().zip(&self.similarities[..keys]) {
            // none is negative, so that the greater ones have the greater bits
            *to = !similarity.to_bits();
        }
        record[keys] = self.hit.tid.stored();
        record[keys + 1] = u64::from(self.hit.source) << 32 | u64::from(self.hit.row);
        record
    }

    fn of_record(record: &[u64]) -> Neighbour {
        let (keys, rest) = record.split_at(record.len() - REST);
        let mut similarities = [0.0; MAX_KEYS];
        for (to, key) in similarities.iter_mut().zip(keys) {
            *to = f64::from_bits(!key);
        }
        Neighbour {
            similarities,
            hit: Hit {
                tid: Tid::of_stored(rest[0]),
                source: (rest[1] >> 32) as u32,
                row: rest[1] as u32,
            },
        }
    }
}

/// Numbers of a record that is sorted, beside those of the keys: the tid, and where the row is in the index.
const REST: usize = 2;

/// Bytes of such a record, by one key.
pub const SORTED_ROW: f64 = (8 * (1 + REST)) as f64;

/// Rows that were sorted, by one key or by up to [`MAX_KEYS`].
pub enum SortedRows {
    One(SortedRecords<{ 1 + REST }>),
    Many(SortedRecords<{ MAX_KEYS + REST }>),
}

impl SortedRows {
    /// The next one.
    pub fn next(&mut self) -> Option<Neighbour> {
        match self {
            SortedRows::One(records) => records.next().map(|r| Neighbour::of_record(&r)),
            SortedRows::Many(records) => records.next().map(|r| Neighbour::of_record(&r)),
        }
    }
}

/// Similarities are counted in so many steps, a power of two so that they have exact bounds.
const STEPS: usize = 1024;

/// How many times as many rows each stage sorts as the one before.
const MORE: u64 = 8;

/// Rows that are sorted in stages, as many more each time as a reader has read already.
pub struct Stages {
    /// How many rows are similar by so many steps and less than one more.
    counts: Vec<u32>,
    /// Rows of so many steps and more have been returned, or are `sorted`.
    from: usize,
    /// Rows of the next stage.
    wanted: u64,
}

impl Stages {
    /// Nothing counted yet.
    pub fn new(wanted: usize) -> Stages {
        Stages {
            counts: vec![0; STEPS + 1],
            from: STEPS + 1,
            wanted: wanted as u64,
        }
    }

    /// Counts a row.
    pub fn count(&mut self, similarity: f64) {
        self.counts[(similarity * STEPS as f64) as usize] += 1;
    }

    /// The similarity down to which the next stage goes, and whether it is the last one above `threshold`.
    pub fn next(&mut self, threshold: f64) -> (f64, bool) {
        let least = (threshold * STEPS as f64) as usize;
        let mut rows = 0;
        while self.from > least && rows < self.wanted {
            self.from -= 1;
            rows += u64::from(self.counts[self.from]);
        }
        self.wanted = self.wanted.saturating_mul(MORE);
        let last = self.from <= least;
        let to = self.from as f64 / STEPS as f64;
        (if last { threshold } else { to }, last)
    }
}

/// How near a row is to the keys' signatures, whose thresholds are 0.
pub fn similarities(keys: &[Query], row: &SignatureRow<'_>) -> [f64; MAX_KEYS] {
    let mut similarities = [0.0; MAX_KEYS];
    for (to, key) in similarities.iter_mut().zip(keys) {
        // at threshold 0 every row is one
        let common = key.hit(row.words, row.popcount).unwrap_or(0);
        *to = key.similarity(row.popcount, common);
    }
    similarities
}
