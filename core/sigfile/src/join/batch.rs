//! Rows that are searched for together.

use super::table::Folds;
use crate::costs::{self, Costs};
use crate::Pages;
use base::memory::reserve;
use base::sort::sort;
use base::{Result, Ticker};
use signature::bits::{fold, Fold, FoldFilter};
use std::ops::Range;

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
    /// The least number of a row that is asked for.
    from: u32,
    /// The next row of the batch with the same signature, which is not searched for by itself; `u32::MAX` if there is
    /// none.
    twin: u32,
    /// It has the signature of a row in front of it, which is searched for.
    pub(super) is_led: bool,
}

impl BatchRow {
    pub(super) fn costs(&self, weak_from: u32, in_tables: bool) -> &'static Costs {
        match (self.limit >= weak_from, in_tables) {
            (false, false) => &costs::JOIN,
            (false, true) => &costs::JOIN_IN_TABLES,
            (true, false) => &costs::JOIN_UNFOLDED,
            (true, true) => &costs::JOIN_UNFOLDED_IN_TABLES,
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
            from,
            twin: u32::MAX,
            is_led: false,
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

    /// Links rows with the same signature, so that the first of them is searched for on behalf of all.
    pub(super) fn link_twins(&mut self, turn: impl FnMut()) {
        const NUMBER: u32 = 24;
        if self.rows.len() >> NUMBER != 0 {
            return;
        }
        let ticker = &mut Ticker::new(turn);
        let mix = |fold: &Fold| {
            let mixed = fold[0].wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ fold[1].rotate_left(32);
            mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> NUMBER
        };
        let numbered = self.rows.iter().enumerate();
        let mut keys: Vec<u64> = numbered
            .map(|(i, row)| mix(&row.fold) << NUMBER | i as u64)
            .collect();
        sort(&mut keys, ticker);
        let number = |key: u64| (key & ((1 << NUMBER) - 1)) as usize;
        let mut leader = keys.first().map_or(0, |&key| number(key));
        // Different signatures can have the same key. Then some equal ones are not linked, and each is searched for by
        // itself.
        for two in keys.windows(2) {
            ticker.step();
            let (first, second) = (number(two[0]), number(two[1]));
            let same_key = (two[0] ^ two[1]) >> NUMBER == 0;
            if same_key && self.words(first) == self.words(second) {
                let from = self.rows[second].from;
                self.rows[first].twin = second as u32;
                self.rows[second].is_led = true;
                let rows = &mut self.rows[leader].rows;
                rows.start = rows.start.min(from);
            } else {
                leader = second;
            }
        }
    }

    /// Calls `hit` with the number of each row of the batch that row `first` is searched for, and that `row` is asked
    /// for by.
    #[inline]
    pub(super) fn each_twin(&self, first: usize, row: u32, mut hit: impl FnMut(usize)) {
        let mut next = first;
        while let Some(asked) = self.rows.get(next) {
            if row >= asked.from {
                hit(next);
            }
            next = asked.twin as usize;
        }
    }
}

// Pairs of a row of a batch and a row of the segment that may be similar.

/// Row of a batch · 2^32 + row of the segment · 2^8 + the chunk that gave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate(u64);

impl Candidate {
    /// In place of a chunk: the row was scanned, and no chunk gives it.
    pub(super) const SCANNED: usize = 0xff;

    #[inline(always)]
    pub(super) fn new(asked: usize, row: u32, chunk: usize) -> Candidate {
        Candidate((asked as u64) << 32 | u64::from(row) << 8 | chunk as u64)
    }

    #[inline(always)]
    pub(super) fn asked(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[inline(always)]
    pub(super) fn row(self) -> u32 {
        self.0 as u32 >> 8
    }

    #[inline(always)]
    pub(super) fn chunk(self) -> usize {
        self.0 as usize & 0xff
    }
}

impl From<Candidate> for u64 {
    fn from(candidate: Candidate) -> u64 {
        candidate.0
    }
}

/// Puts candidates in order.
pub(super) fn sort_candidates(candidates: &mut [Candidate], pages: &mut impl Pages) {
    sort(candidates, &mut Ticker::new(|| pages.tick()));
}

/// Adds candidates of row `i` of a batch.
#[inline]
pub(super) fn keep(
    candidates: &mut Vec<Candidate>,
    i: usize,
    chunk: usize,
    near: &[u32],
) -> Result<()> {
    reserve(candidates, near.len())?;
    candidates.extend(near.iter().map(|&row| Candidate::new(i, row, chunk)));
    Ok(())
}
