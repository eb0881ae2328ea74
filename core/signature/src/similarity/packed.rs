//! Exact search over signatures packed one behind the other: what an index falls back to, and what
//! it has to beat.

use super::measure::Measure;
use super::threshold::least_common;
use crate::bits::{kernels, Kernel, PackedScan};
use base::{Error, Result};

/// Signatures of one shape in memory, as 64-bit words.
#[derive(Clone, Debug)]
pub struct PackedSignatures {
    stride: usize,
    words: Vec<u64>,
    popcounts: Vec<u32>,
}

impl PackedSignatures {
    /// For signatures of `bits` bits, 1 or more.
    pub fn new(bits: u32) -> Self {
        PackedSignatures {
            stride: bits.max(1).div_ceil(64) as usize,
            words: Vec::new(),
            popcounts: Vec::new(),
        }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.popcounts.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.popcounts.is_empty()
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
            .and_then(|()| self.popcounts.try_reserve(1))
            .map_err(|_| Error::out_of_memory(8 * self.stride))?;
        let row = self.row(bits);
        self.popcounts.push(row.clone().map(u64::count_ones).sum());
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
            .map(|popcount| least_common(bits, popcount, threshold).unwrap_or(u32::MAX))
            .collect();
        let bound = Measure::Jaccard.bound(bits, threshold);
        let scan = PackedScan::new(&self.words, &self.popcounts, &query, &limits, bound);
        kernel.scan(&scan, &mut hit);
    }
}
