//! Rows that are searched for together.

use std::ops::Range;

use super::folds::Folds;
use crate::bits::{fold, Fold, FoldFilter};
use crate::sigfile::budget::Costs;

/// Nanoseconds, measured on warm buffers; only their ratios matter.
pub const COSTS: Costs = Costs {
    probe: 80.0,
    candidate: 8.0,
    scan_word: 0.0,
    scan_row: 1.5,
};

/// The same where folds tell little apart: rows are compared themselves.
const COSTS_UNFOLDED: Costs = Costs {
    probe: 80.0,
    candidate: 60.0,
    scan_word: 0.12,
    scan_row: 0.3,
};

/// Rows that are searched for, in the order of their popcounts.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) words: Vec<u64>,
    pub(super) rows: Vec<BatchRow>,
}

/// What is known of a row that is searched for.
#[derive(Clone, Debug)]
pub(super) struct BatchRow {
    pub(super) popcount: u32,
    /// Rows that can be similar, by number.
    pub(super) rows: Range<u32>,
    /// Of these, those from here on are scanned.
    pub(super) scanned: u32,
    /// Least and greatest popcount that can be similar.
    pub(super) window: (u32, u32),
    /// The greatest number of bits that a similar row differs in.
    pub(super) limit: u32,
    pub(super) fold: Fold,
}

impl BatchRow {
    pub(super) fn costs(&self, weak_from: u32) -> &'static Costs {
        if self.limit >= weak_from {
            &COSTS_UNFOLDED
        } else {
            &COSTS
        }
    }

    pub(super) fn filter<'a>(&'a self, folds: &'a Folds) -> FoldFilter<'a> {
        FoldFilter {
            folds: &folds.folds,
            first: folds.first,
            fold: &self.fold,
            limit: self.limit,
        }
    }
}

impl Batch {
    /// Takes all rows out.
    pub fn clear(&mut self) {
        self.words.clear();
        self.rows.clear();
    }

    /// Adds a row, to be searched for among the rows from number `from` on.
    pub fn push(&mut self, words: &[u64], popcount: u32, from: u32) {
        self.words.extend_from_slice(words);
        self.rows.push(BatchRow {
            popcount,
            rows: from..u32::MAX,
            scanned: from,
            window: (0, 0),
            limit: 0,
            fold: fold(words),
        });
    }

    /// Rows to be searched for.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn words(&self, i: usize) -> &[u64] {
        let stride = self.words.len() / self.rows.len();
        &self.words[i * stride..(i + 1) * stride]
    }
}
