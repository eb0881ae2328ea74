//! Rows in memory, by columns.

use base::{Error, Result};

/// The most rows that can be searched for at once.
pub const MOST_ROWS: usize = 1 << 18;

/// Rows in memory: column w has word w of each of them, so that a chunk of all rows is read from one or two columns.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) columns: Vec<Vec<u64>>,
    pub(super) popcounts: Vec<u16>,
}

impl Rows {
    /// Bytes of memory that a row of so many words takes.
    pub(super) const fn bytes(stride: usize) -> usize {
        8 * stride + size_of::<u16>()
    }

    /// With room for so many rows of so many words.
    ///
    /// Errors: out of memory.
    pub(super) fn with_room(stride: usize, rows: usize) -> Result<Rows> {
        let failed = |_| Error::out_of_memory(rows * Rows::bytes(stride));
        let mut here = Rows::default();
        here.columns.resize_with(stride, Vec::new);
        for column in &mut here.columns {
            column.try_reserve_exact(rows).map_err(failed)?;
        }
        here.popcounts.try_reserve_exact(rows).map_err(failed)?;
        Ok(here)
    }

    /// Adds rows, all words of one behind those of the other, of which `numbers` are meant.
    pub(super) fn extend(&mut self, words: &[u64], popcounts: &[u32], numbers: &[u16]) {
        let stride = self.columns.len();
        for (w, column) in self.columns.iter_mut().enumerate() {
            let words = &words[w..];
            column.extend(numbers.iter().map(|&i| words[usize::from(i) * stride]));
        }
        let popcount = |&i: &u16| popcounts[usize::from(i)] as u16;
        self.popcounts.extend(numbers.iter().map(popcount));
    }

    pub(super) fn len(&self) -> usize {
        self.popcounts.len()
    }

    /// Bits that a row and a row of `other` have in common.
    pub(super) fn common(&self, i: usize, other: &Rows, j: usize) -> u32 {
        let columns = self.columns.iter().zip(&other.columns);
        columns.map(|(a, b)| (a[i] & b[j]).count_ones()).sum()
    }

    pub(super) fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.popcounts.clear();
    }
}

/// Rows to be searched for.
pub struct WantedRows(pub(super) Rows);

impl WantedRows {
    /// Bytes of memory that a row of so many words takes.
    pub const fn bytes_of_row(stride: usize) -> usize {
        // Whether it is done is one of them.
        Rows::bytes(stride) + 1
    }

    /// Room for so many rows of so many words.
    ///
    /// Errors: out of memory.
    pub fn with_room(stride: usize, rows: usize) -> Result<WantedRows> {
        Ok(WantedRows(Rows::with_room(stride, rows)?))
    }

    /// Adds a row, whose number is the number of rows before. There is room for it.
    pub fn push(&mut self, words: &[u64], popcount: u32) {
        debug_assert!(self.0.len() < self.0.popcounts.capacity(), "there is room");
        self.0.extend(words, &[popcount], &[0]);
    }
}
