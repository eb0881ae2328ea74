//! Memory whose size the data decide.

use super::{Error, Result};

/// Makes room for `more` elements.
///
/// Errors: out of memory.
#[inline]
pub fn reserve<T>(of: &mut Vec<T>, more: usize) -> Result<()> {
    of.try_reserve(more).map_err(|_| failed::<T>(more))
}

/// An empty vector with room for just `n` elements.
///
/// Errors: out of memory.
#[inline]
pub fn with_room<T>(n: usize) -> Result<Vec<T>> {
    let mut new = Vec::new();
    new.try_reserve_exact(n).map_err(|_| failed::<T>(n))?;
    Ok(new)
}

/// `n` times the same.
///
/// Errors: out of memory.
pub fn filled<T: Clone>(n: usize, with: T) -> Result<Vec<T>> {
    let mut new = with_room(n)?;
    new.resize(n, with);
    Ok(new)
}

/// A copy of some elements.
///
/// Errors: out of memory.
pub fn copied<T: Copy>(of: &[T]) -> Result<Vec<T>> {
    let mut new = with_room(of.len())?;
    new.extend_from_slice(of);
    Ok(new)
}

#[cold]
fn failed<T>(n: usize) -> Error {
    Error::out_of_memory(n.saturating_mul(size_of::<T>()))
}
