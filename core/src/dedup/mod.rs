//! What is done with pairs of similar records once they are found: grouping them ([`clusters`],
//! [`mod@average`]), and measuring them against a known truth ([`quality`]), at many thresholds at once
//! ([`sweep`]).
//!
//! Records are numbered from 0. No result depends on the order of the pairs.

pub mod average;
pub mod clusters;
mod forest;
pub mod links;
pub mod quality;
pub mod sweep;

pub use average::average;
pub use clusters::{centres, components, labels, Choice, Clusters, Member};
pub use links::{Link, Links, Pair};
pub use quality::{b_cubed, PairCounts, Rates};
pub use sweep::{Sweep, SweepStep};

use crate::tick::Ticker;
use crate::{Error, Result};

/// Memory is slow when it is used for the first time, so there are turns.
///
/// Errors: out of memory.
fn filled<T: Clone>(n: usize, value: T, ticker: &mut Ticker<impl FnMut()>) -> Result<Vec<T>> {
    const AT_ONCE: usize = 1 << 14;
    let mut filled = Vec::new();
    reserve(&mut filled, n)?;
    while filled.len() < n {
        filled.resize(n.min(filled.len() + AT_ONCE), value.clone());
        ticker.turn();
    }
    Ok(filled)
}

/// Errors: out of memory.
fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    vec.try_reserve_exact(more)
        .map_err(|_| Error::out_of_memory(more.saturating_mul(size_of::<T>())))
}
