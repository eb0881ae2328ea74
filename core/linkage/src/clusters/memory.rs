//! Memory that is reserved, and an error where there is none.

use base::Ticker;
use base::{Error, Result};

/// Memory is slow when it is used for the first time, so there are turns.
///
/// Errors: out of memory.
pub(crate) fn filled<T: Clone>(
    n: usize,
    value: T,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<T>> {
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
pub(crate) fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    vec.try_reserve_exact(more)
        .map_err(|_| Error::out_of_memory(more.saturating_mul(size_of::<T>())))
}
