//! Pairs of a row of a batch and a row of the segment that may be similar.

use crate::sigfile::pages::Pages;
use crate::sort::sort_distinct;
use crate::tick::Ticker;
use crate::{Error, Result};

/// Puts candidates in order, each once.
pub(super) fn sort_candidates(candidates: &mut Vec<u64>, pages: &mut impl Pages) {
    sort_distinct(candidates, &mut Ticker::new(|| pages.tick()));
}

/// Adds candidates of row `i` of a batch.
#[inline]
pub(super) fn keep(candidates: &mut Vec<u64>, i: usize, near: &[u32]) -> Result<()> {
    candidates
        .try_reserve(near.len())
        .map_err(|_| Error::out_of_memory(8 * near.len()))?;
    candidates.extend(near.iter().map(|&row| (i as u64) << 32 | u64::from(row)));
    Ok(())
}
