//! Exact search over signatures packed one behind the other, by any kernel: for the tests here and the benchmarks of
//! `sigfile`.

use signature::bits::{to_words, Kernel, PackedScan};
use signature::similarity::{least_common, Measure};

/// Signatures of one shape in memory, as 64-bit words.
pub struct PackedSignatures {
    stride: usize,
    pub words: Vec<u64>,
    popcounts: Vec<u32>,
}

impl PackedSignatures {
    /// For signatures of `bits` bits, 1 or more.
    pub fn new(bits: u32) -> Self {
        PackedSignatures {
            stride: bits.div_ceil(64) as usize,
            words: Vec::new(),
            popcounts: Vec::new(),
        }
    }

    /// Adds a row: its bits as a signature stores them.
    pub fn push(&mut self, bits: &[u8]) {
        let ones = bits.iter().map(|byte| byte.count_ones()).sum();
        self.popcounts.push(ones);
        to_words(bits, self.stride, &mut self.words);
    }

    /// Calls `hit` with number and common bits of every row whose Jaccard similarity to `query` (bits as stored) is at
    /// least `threshold`, in order.
    pub fn search(
        &self,
        kernel: &Kernel,
        query: &[u8],
        threshold: f64,
        mut hit: impl FnMut(usize, u32),
    ) {
        let ones = query.iter().map(|byte| byte.count_ones()).sum();
        let mut words = Vec::new();
        to_words(query, self.stride, &mut words);
        let limit = |popcount| least_common(ones, popcount, threshold).unwrap_or(u32::MAX);
        let limits: Vec<u32> = (0..=64 * self.stride as u32).map(limit).collect();
        let bound = Measure::Jaccard.bound(ones, threshold);
        let scan = PackedScan::new(&self.words, &self.popcounts, &words, &limits, bound);
        kernel.scan(&scan, &mut hit);
    }
}
