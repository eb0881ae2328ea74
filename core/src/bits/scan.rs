//! Exact search over signatures packed one behind the other: what an index falls back to, and what
//! it has to beat.

use super::kernel::{kernels, scan_best, Kernel};
use crate::similarity::least_common;
use crate::{Error, Result};

/// What a kernel scans: rows of as many words as the query, their bit counts, and for each bit
/// count the common bits that make a hit.
pub struct Scan<'a> {
    pub(super) words: &'a [u64],
    pub(super) counts: &'a [u32],
    pub(super) query: &'a [u64],
    /// Indexed by bit count; `u32::MAX` where no row of that count can reach the threshold.
    limits: &'a [u32],
    threshold: f64,
}

impl Scan<'_> {
    /// Runs `intersect` over the rows from number `first` on.
    #[inline(always)]
    pub(super) fn rows(
        &self,
        first: usize,
        mut intersect: impl FnMut(&[u64]) -> u32,
        hit: &mut dyn FnMut(usize, u32),
    ) {
        let width = self.query.len();
        let rows = self.words[first * width..].chunks_exact(width);
        for (i, (row, &count)) in rows.zip(&self.counts[first..]).enumerate() {
            let common = intersect(row);
            if common >= self.limit(count) {
                hit(first + i, common);
            }
        }
    }

    /// The common bits that a row of so many bits takes; one of more bits than there are reaches nothing.
    #[inline(always)]
    fn limit(&self, count: u32) -> u32 {
        self.limits.get(count as usize).copied().unwrap_or(u32::MAX)
    }

    /// Reports row `i` if its common bits reach the limit.
    pub(super) fn check(&self, i: usize, common: u32, hit: &mut dyn FnMut(usize, u32)) {
        if common >= self.limit(self.counts[i]) {
            hit(i, common);
        }
    }

    /// t/(1+t): the common bits that similarity t takes, of the sum of both bit counts.
    pub(super) fn slope(&self) -> f32 {
        (self.threshold / (1.0 + self.threshold)) as f32
    }

    /// Set bits of the query.
    pub(super) fn query_count(&self) -> u32 {
        self.query.iter().map(|w| w.count_ones()).sum()
    }
}

/// Calls `hit` with number and common bits of every row that reaches its limit: `words` are the rows, of as
/// many words as `query`, `counts` their bit counts, and `limits` for each bit count the common bits
/// that Jaccard similarity `threshold`, which is finite, takes (`u32::MAX`: out of reach).
pub(crate) fn scan_rows(
    words: &[u64],
    counts: &[u32],
    query: &[u64],
    limits: &[u32],
    threshold: f64,
    hit: &mut dyn FnMut(usize, u32),
) {
    assert_eq!(words.len(), counts.len() * query.len(), "a count a row");
    let scan = Scan {
        words,
        counts,
        query,
        limits,
        threshold,
    };
    scan_best(&scan, hit);
}

/// Signatures of one shape in memory, as 64-bit words.
#[derive(Clone, Debug)]
pub struct PackedSignatures {
    stride: usize,
    words: Vec<u64>,
    counts: Vec<u32>,
}

impl PackedSignatures {
    /// For signatures of `bits` bits, 1 or more.
    pub fn new(bits: u32) -> Self {
        PackedSignatures {
            stride: bits.max(1).div_ceil(64) as usize,
            words: Vec::new(),
            counts: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.counts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The packed words, row behind row.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Adds a row: its bits as a signature stores them.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, bits: &[u8]) -> Result<()> {
        self.words
            .try_reserve(self.stride)
            .and_then(|()| self.counts.try_reserve(1))
            .map_err(|_| Error::out_of_memory(8 * self.stride))?;
        let row = self.row(bits);
        self.counts.push(row.clone().map(u64::count_ones).sum());
        self.words.extend(row);
        Ok(())
    }

    fn row<'b>(&self, bits: &'b [u8]) -> impl Iterator<Item = u64> + Clone + 'b {
        assert!(bits.len() <= 8 * self.stride, "row longer than the stride");
        (0..self.stride).map(|i| {
            let mut word = [0; 8];
            let bytes = bits.chunks(8).nth(i).unwrap_or(&[]);
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        })
    }

    /// Calls `hit` with number and common bits of every row whose Jaccard similarity to `query`
    /// (bits as stored) is at least `threshold`, in order, with the best kernel.
    pub fn search(&self, query: &[u8], threshold: f64, hit: impl FnMut(usize, u32)) {
        let kernels = kernels();
        self.search_with(kernels.last().expect("one at least"), query, threshold, hit);
    }

    /// [`PackedSignatures::search`] with a kernel of choice.
    pub fn search_with(
        &self,
        kernel: &Kernel,
        query: &[u8],
        threshold: f64,
        mut hit: impl FnMut(usize, u32),
    ) {
        let query: Vec<u64> = self.row(query).collect();
        let bits = query.iter().map(|w| w.count_ones()).sum();
        // the same rows, and finite arithmetic
        let threshold = threshold.clamp(0.0, 2.0);
        let limits: Vec<u32> = (0..=64 * self.stride as u32)
            .map(|count| least_common(bits, count, threshold).unwrap_or(u32::MAX))
            .collect();
        let scan = Scan {
            words: &self.words,
            counts: &self.counts,
            query: &query,
            limits: &limits,
            threshold,
        };
        kernel.scan(&scan, &mut hit);
    }
}
