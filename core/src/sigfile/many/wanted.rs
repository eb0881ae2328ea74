//! Rows in memory.

use crate::bits::{fold, Fold};
use crate::{Error, Result};

/// The most rows that can be searched for at once.
pub const MOST_ROWS: usize = 1 << 15;

/// Rows side by side in memory.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) words: Vec<u64>,
    pub(super) folds: Vec<Fold>,
    pub(super) popcounts: Vec<u32>,
}

impl Rows {
    pub(super) fn push(&mut self, words: &[u64], popcount: u32) -> Result<()> {
        let failed = |_| Error::out_of_memory(8 * words.len());
        self.words.try_reserve(words.len()).map_err(failed)?;
        self.folds.try_reserve(1).map_err(failed)?;
        self.popcounts.try_reserve(1).map_err(failed)?;
        self.words.extend_from_slice(words);
        self.folds.push(fold(words));
        self.popcounts.push(popcount);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.popcounts.len()
    }

    pub(super) fn row(&self, i: usize) -> &[u64] {
        let stride = self.words.len() / self.len();
        &self.words[i * stride..(i + 1) * stride]
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        if rows < self.len() {
            let stride = self.words.len() / self.len();
            self.words.truncate(rows * stride);
            self.folds.truncate(rows);
            self.popcounts.truncate(rows);
        }
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.folds.clear();
        self.popcounts.clear();
    }
}

/// Rows to be searched for.
#[derive(Default)]
pub struct WantedRows(pub(super) Rows);

impl WantedRows {
    /// Bytes of memory that a row of so many words takes: a vector that grows has up to twice as much room as it needs.
    pub fn bytes_of_row(stride: usize) -> usize {
        2 * (8 * stride + size_of::<Fold>() + size_of::<u32>())
    }

    /// Adds a row, whose number is the number of rows before.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, words: &[u64], popcount: u32) -> Result<()> {
        debug_assert!(self.0.len() < MOST_ROWS, "rows have numbers of 16 bits");
        self.0.push(words, popcount)
    }
}
