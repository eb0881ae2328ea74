//! Sorting more numbers than fit into memory.

use super::{RecordSort, SortedRecords};

/// Numbers that are being collected.
pub struct WordSort(RecordSort<1>);

impl WordSort {
    /// Takes about `memory` bytes.
    pub fn new(memory: usize) -> WordSort {
        WordSort(RecordSort::new(memory))
    }

    /// One number more.
    ///
    /// Errors: out of memory.
    #[inline]
    pub fn push(&mut self, word: u64) {
        self.0.push([word]);
    }

    /// All of them in their order.
    pub fn finish(self) -> SortedWords {
        SortedWords(self.0.finish())
    }
}

/// Numbers in their order, repetitions included.
pub struct SortedWords(SortedRecords<1>);

impl Iterator for SortedWords {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.0.next().map(|[word]| word)
    }
}
