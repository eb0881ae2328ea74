//! Rows in memory.

use base::sort::{order_by_count, sort_records};
use base::{Error, Result};
use sigfile::{Geometry, SignatureRow};

use super::packed::{self, pack, unpack};
use pg::check_for_interrupts;

/// Rows in memory, packed one behind the other.
pub struct RowsInMemory {
    geometry: Geometry,
    words: Vec<u64>,
    /// Numbers of the rows by popcount, or by key and popcount, once they are sorted.
    order: Vec<u32>,
    /// Where in `order` each popcount begins, once they are sorted. Not where rows have keys.
    first: Vec<u32>,
}

impl RowsInMemory {
    /// No rows.
    pub fn new(geometry: Geometry) -> Self {
        RowsInMemory {
            geometry,
            words: Vec::new(),
            order: Vec::new(),
            first: Vec::new(),
        }
    }

    /// Words of a row.
    pub fn width(&self) -> usize {
        packed::width(&self.geometry)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.words.len() / self.width()
    }

    /// Bytes of memory for `rows` rows, sorted.
    pub fn bytes(&self, rows: usize) -> usize {
        // Rows with keys are sorted by records of two words.
        let sorting = if self.geometry.keys { 16 } else { 0 };
        rows * (8 * self.width() + 4 + sorting) + 4 * self.counts()
    }

    /// Length of `first` while the rows are sorted.
    fn counts(&self) -> usize {
        self.geometry.null_popcount() as usize + 3
    }

    /// Adds a row.
    ///
    /// Errors: out of memory; a row that cannot be.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        let width = self.width();
        row.check(&self.geometry)?;
        if self.words.capacity() - self.words.len() < width {
            // It grows by an eighth at a time: doubling would waste half of what is allowed
            let more = (self.words.len() / 8).max(1 << 12) + width;
            self.words
                .try_reserve_exact(more)
                .map_err(|_| Error::out_of_memory(8 * more))?;
        }
        self.words.extend_from_slice(row.words);
        let rest = width - self.geometry.stride;
        self.words.extend_from_slice(&pack(row)[..rest]);
        Ok(())
    }

    fn row(&self, i: usize) -> SignatureRow<'_> {
        let words = &self.words[i * self.width()..(i + 1) * self.width()];
        unpack(&self.geometry, words)
    }

    /// Puts the rows in their order.
    ///
    /// Errors: out of memory.
    fn sort(&mut self) -> Result<()> {
        if self.geometry.keys {
            return self.sort_by_key();
        }
        let popcount = |i| self.row(i as usize).popcount;
        let greatest = self.geometry.null_popcount();
        let (order, first) = order_by_count(self.len() as u32, greatest, popcount, || {
            check_for_interrupts();
        })?;
        (self.first, self.order) = (first, order);
        Ok(())
    }

    /// Puts the rows in the order of keys and popcounts.
    ///
    /// Errors: out of memory.
    fn sort_by_key(&mut self) -> Result<()> {
        let n = self.len();
        let (mut records, mut order) = (Vec::new(), Vec::new());
        records
            .try_reserve_exact(n)
            .and_then(|()| order.try_reserve_exact(n))
            .map_err(|_| Error::out_of_memory(20 * n))?;
        records.extend((0..n).map(|i| [self.row(i).order(), i as u64]));
        sort_records(&mut records, check_for_interrupts);
        order.extend(records.iter().map(|record| record[1] as u32));
        self.order = order;
        Ok(())
    }

    /// The same rows in their order.
    ///
    /// Errors: out of memory.
    pub fn sorted(mut self) -> Result<RowsInMemory> {
        self.sort()?;
        Ok(self)
    }

    /// A row by its number in their order; the rows are sorted.
    pub fn nth(&self, n: usize) -> SignatureRow<'_> {
        self.row(self.order[n] as usize)
    }

    /// The packed words of all rows, in their order; the rows are sorted.
    pub fn packed(&self) -> impl Iterator<Item = &[u64]> {
        let width = self.width();
        let rows = self.order.iter().map(|&i| i as usize);
        rows.map(move |i| &self.words[i * width..(i + 1) * width])
    }

    /// The rows of a popcount; the rows are sorted, and have no keys.
    pub fn of_popcount(&self, popcount: u32) -> impl Iterator<Item = SignatureRow<'_>> {
        let at = popcount as usize;
        let range = self.first[at] as usize..self.first[at + 1] as usize;
        self.order[range].iter().map(|&i| self.row(i as usize))
    }
}
