//! Memory sized by data, which is reserved before it is used: where there is none, that is an error.

use crate::{Error, Result, Ticker};

/// Makes room for exactly `more` elements behind those of a list.
///
/// Errors: out of memory.
pub fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    list.try_reserve_exact(more)
        .map_err(|_| Error::out_of_memory(more.saturating_mul(size_of::<T>())))
}

/// Appends an element. A list that is full grows by half of its length, so that little is copied and little is left
/// over.
///
/// Errors: out of memory.
#[inline]
pub fn push<T>(list: &mut Vec<T>, element: T) -> Result<()> {
    if list.len() == list.capacity() {
        reserve(list, (list.len() / 2).max(4))?;
    }
    list.push(element);
    Ok(())
}

/// All elements of an iterator, which gives `most` of them at the most.
///
/// Errors: out of memory.
pub fn collected<T>(elements: impl Iterator<Item = T>, most: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    reserve(&mut list, most)?;
    list.extend(elements);
    Ok(list)
}

/// A list of `n` equal elements. Memory is slow when it is used for the first time, so there are turns.
///
/// Errors: out of memory.
pub fn filled<T: Clone>(n: usize, value: T, ticker: &mut Ticker<impl FnMut()>) -> Result<Vec<T>> {
    const AT_ONCE: usize = 1 << 14;
    let mut filled = Vec::new();
    reserve(&mut filled, n)?;
    while filled.len() < n {
        filled.resize(n.min(filled.len() + AT_ONCE), value.clone());
        ticker.turn();
    }
    Ok(filled)
}
