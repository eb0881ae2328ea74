//! The order of rows that have keys. A key is a hash of what rows are searched within, such as a tenant: a search for
//! one looks at its rows only. Rows are in the order of key and popcount, so those of a key are side by side, and among
//! them those of a popcount. The description has key and popcount of the first row of each page, which tells the pages
//! of a key by a binary search in memory. Rows of other keys on the first and the last of them are left out by who
//! looks at the rows.

use base::memory::copied;
use std::ops::Range;

use super::rows::{order_of, Geometry, RowPage};
use base::{Error, Result};
use signature::similarity::Measure;

/// Rows among which a search finds what it looks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    /// Their numbers.
    pub rows: Range<u32>,
    /// Which share of a posting list they are expected to be.
    pub share: f64,
}

/// What the row pages of a segment begin with: [`SignatureRow::order`](super::rows::SignatureRow::order) of their first
/// rows. Empty where rows have no keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOrders(Vec<u64>);

impl PageOrders {
    /// Adds that of the next page.
    pub(super) fn push(&mut self, order: u64) {
        self.0.push(order);
    }

    /// The words that are stored.
    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }

    /// Bytes of memory.
    pub(super) fn size(&self) -> usize {
        size_of_val(&self.0[..])
    }

    /// Reads what was stored. `first` are the rows with fewer bits than each popcount.
    ///
    /// Errors: what no segment with these numbers of rows can have; out of memory.
    pub(super) fn read(geometry: &Geometry, first: &[u32], words: &[u64]) -> Result<PageOrders> {
        let null = geometry.null_popcount();
        // Rows without a signature are in segments of their own; by agreement, those without bits are among the others.
        let (present, rows) = (first[null as usize], first[null as usize + 1]);
        let mixed = geometry.measure == Measure::Jaccard && present != 0 && present != rows;
        let popcounts = words.iter().all(|&word| word as u32 <= null);
        if !words.is_sorted() || !popcounts || mixed {
            return Err(Error::damaged("damaged description of a sigfile segment"));
        }
        Ok(PageOrders(copied(words)?))
    }

    /// The page that has the first row which is not before an order, or ends in front of it.
    pub fn before(&self, order: u64) -> usize {
        let not_before = self.0.partition_point(|&begin| begin < order);
        not_before.saturating_sub(1)
    }

    /// The pages on which rows of an order from `low` to `high` can be.
    pub(super) fn pages(&self, low: u64, high: u64) -> Range<usize> {
        let to = self.0.partition_point(|&begin| begin <= high);
        self.before(low).min(to)..to
    }

    /// What a page begins with, and what none of its rows is beyond.
    fn bounds(&self, number: u32) -> (u64, u64) {
        let at = |i: usize| self.0.get(i).copied().unwrap_or(u64::MAX);
        (at(number as usize), at(number as usize + 1))
    }

    /// The popcount of row `i` of a page.
    ///
    /// Errors: one that it cannot have there.
    pub(super) fn popcount_on(&self, number: u32, page: &RowPage<'_>, i: usize) -> Result<u32> {
        let (begin, end) = self.bounds(number);
        match page.popcounts().get(i) {
            Some(&popcount)
                if (begin..=end).contains(&page.order(i))
                    && popcount <= page.geometry().null_popcount() =>
            {
                Ok(popcount)
            }
            popcount => Err(misplaced(i, popcount.copied()).on_page(number)),
        }
    }

    /// Whether keys and popcounts of rows `from..to` of a page are in order, and those that belong there.
    ///
    /// Errors: one is not.
    pub(super) fn check(
        &self,
        number: u32,
        page: &RowPage<'_>,
        from: usize,
        to: usize,
    ) -> Result<()> {
        let (begin, end) = self.bounds(number);
        let (keys, popcounts) = (page.keys(), page.popcounts());
        let here = keys.get(from..to).zip(popcounts.get(from..to));
        let Some((keys, popcounts)) = here else {
            return Err(misplaced(to - 1, None).on_page(number));
        };
        let most = page.geometry().null_popcount();
        let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else {
            return Ok(());
        };
        let first = order_of(first, popcounts[0]);
        let last = order_of(last, popcounts[popcounts.len() - 1]);
        let outside = first < begin || (from == 0 && first != begin) || last > end;
        if outside || !ascend(keys, popcounts, most) {
            let wrong = (1..keys.len()).find(|&i| {
                let order = |i: usize| order_of(keys[i], popcounts[i]);
                order(i) < order(i - 1) || popcounts[i] > most
            });
            let i = wrong.unwrap_or(if last > end { keys.len() - 1 } else { 0 });
            return Err(misplaced(from + i, popcounts.get(i).copied()).on_page(number));
        }
        Ok(())
    }
}

/// Whether rows are in the order of keys and popcounts, of which none is beyond `most`: without a branch for each row,
/// several at once.
fn ascend(keys: &[u32], popcounts: &[u32], most: u32) -> bool {
    let too_many = popcounts
        .iter()
        .fold(0, |wrong, &c| wrong | u32::from(c > most));
    let keys = keys.iter().zip(keys.get(1..).unwrap_or_default());
    let popcounts = popcounts.iter().zip(popcounts.get(1..).unwrap_or_default());
    let descends = keys
        .zip(popcounts)
        .fold(0, |wrong, ((k, next_k), (c, next_c))| {
            wrong | u32::from(k > next_k) | (u32::from(k == next_k) & u32::from(c > next_c))
        });
    too_many | descends == 0
}

#[cold]
pub(super) fn misplaced(i: usize, popcount: Option<u32>) -> Error {
    Error::damaged(match popcount {
        Some(popcount) => format!("row {i} has popcount {popcount}, which does not belong there"),
        None => format!("there is no row {i}"),
    })
}
