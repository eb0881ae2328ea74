//! Pairs of a row of a batch and a row of the segment that may be similar.

use crate::pages::Pages;
use base::sort::sort;
use base::Ticker;
use base::{Error, Result};

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
    candidates
        .try_reserve(near.len())
        .map_err(|_| Error::out_of_memory(8 * near.len()))?;
    candidates.extend(near.iter().map(|&row| Candidate::new(i, row, chunk)));
    Ok(())
}
