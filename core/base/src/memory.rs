//! Memory whose size the data decide: it is reserved before it is used, and where there is none, that is an error.

use crate::{Error, Result, Ticker};

/// Makes room for `more` elements.
///
/// Errors: out of memory.
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    list.try_reserve(more).map_err(|_| failed::<T>(more))
}

/// An empty list with room for just `n` elements.
///
/// Errors: out of memory.
#[inline]
pub fn with_room<T>(n: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(n).map_err(|_| failed::<T>(n))?;
    Ok(list)
}

/// Appends an element. A list that is full grows by half of its length, so that little is copied and little is left
/// over.
///
/// Errors: out of memory.
#[inline]
pub fn push<T>(list: &mut Vec<T>, element: T) -> Result<()> {
    if list.len() == list.capacity() {
        let more = (list.len() / 2).max(4);
        list.try_reserve_exact(more)
            .map_err(|_| failed::<T>(more))?;
    }
    list.push(element);
    Ok(())
}

/// All elements of an iterator, which gives `most` of them at the most.
///
/// Errors: out of memory.
pub fn collected<T>(elements: impl Iterator<Item = T>, most: usize) -> Result<Vec<T>> {
    let mut list = with_room(most)?;
    list.extend(elements);
    Ok(list)
}

/// `n` times the same.
///
/// Errors: out of memory.
pub fn filled<T: Clone>(n: usize, value: T) -> Result<Vec<T>> {
    let mut list = with_room(n)?;
    list.resize(n, value);
    Ok(list)
}

/// `n` times the same. Memory is slow when it is used for the first time, so there are turns.
///
/// Errors: out of memory.
pub fn filled_in_turns<T: Clone>(
    n: usize,
    value: T,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<T>> {
    const AT_ONCE: usize = 1 << 14;
    let mut list = with_room(n)?;
    while list.len() < n {
        list.resize(n.min(list.len() + AT_ONCE), value.clone());
        ticker.turn();
    }
    Ok(list)
}

/// A copy of some elements.
///
/// Errors: out of memory.
pub fn copied<T: Copy>(of: &[T]) -> Result<Vec<T>> {
    let mut list = with_room(of.len())?;
    list.extend_from_slice(of);
    Ok(list)
}

#[cold]
fn failed<T>(n: usize) -> Error {
    Error::out_of_memory(n.saturating_mul(size_of::<T>()))
}
