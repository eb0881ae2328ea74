//! Rows in memory.

use bloom_ident_core::sigfile::{Geometry, SignatureRow};
use bloom_ident_core::{Error, Result};

use crate::pg::check_for_interrupts;
use crate::sigfile::page::PAGE_WORDS;

/// A bit count stands above the place of a row.
const _: () = assert!(Geometry::most_bits(PAGE_WORDS) + 1 < 1 << 16);

/// Rows in memory, of a number of words each: the bits, the threshold, and place + count · 2^48.
pub struct RowsInMemory {
    pub geometry: Geometry,
    pub words: Vec<u64>,
    /// Rows by bit count, once sorted.
    pub order: Vec<u32>,
    first: Vec<u32>,
}

impl RowsInMemory {
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
        self.geometry.stride + 2
    }

    pub fn len(&self) -> usize {
        self.words.len() / self.width()
    }

    /// Bytes of memory for `rows` rows, sorted.
    pub fn bytes(&self, rows: usize) -> usize {
        rows * (8 * self.width() + 4) + 4 * self.counts()
    }

    /// Length of `first` while the rows are sorted.
    fn counts(&self) -> usize {
        self.geometry.null_popcount() as usize + 3
    }

    /// Errors: out of memory; a row that cannot be.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        let width = self.width();
        row.check(&self.geometry)?;
        if self.words.capacity() - self.words.len() < width {
            // by an eighth at a time: doubling would waste half of what is allowed
            let more = (self.words.len() / 8).max(1 << 12) + width;
            self.words
                .try_reserve_exact(more)
                .map_err(|_| Error::out_of_memory(8 * more))?;
        }
        self.words.extend_from_slice(row.words);
        self.words.extend_from_slice(&pack(row));
        Ok(())
    }

    pub fn row(&self, i: usize) -> SignatureRow<'_> {
        let words = &self.words[i * self.width()..(i + 1) * self.width()];
        unpack(&self.geometry, words)
    }

    /// Puts the rows in the order of their bit counts.
    ///
    /// Errors: out of memory.
    pub fn sort(&mut self) -> Result<()> {
        let (n, counts) = (self.len(), self.counts());
        let mut first = Vec::new();
        let mut order = Vec::new();
        let reserved = first
            .try_reserve_exact(counts)
            .and_then(|()| order.try_reserve_exact(n));
        reserved.map_err(|_| Error::out_of_memory(4 * (n + counts)))?;
        first.resize(counts, 0u32);
        order.resize(n, 0);
        for i in 0..n {
            check_for_interrupts();
            first[self.row(i).popcount as usize + 2] += 1;
        }
        for c in 1..counts {
            first[c] += first[c - 1];
        }
        // where count c begins is at c + 1 as yet, and comes to be where it ends
        for i in 0..n {
            let slot = &mut first[self.row(i).popcount as usize + 1];
            order[*slot as usize] = i as u32;
            *slot += 1;
            check_for_interrupts();
        }
        (self.first, self.order) = (first, order);
        Ok(())
    }

    /// A row by its number among the sorted ones.
    pub fn nth(&self, n: usize) -> SignatureRow<'_> {
        self.row(self.order[n] as usize)
    }

    pub fn of_count(&self, count: u32) -> &[u32] {
        &self.order[self.first[count as usize] as usize..self.first[count as usize + 1] as usize]
    }
}

/// What follows the bits of a row.
pub fn pack(row: SignatureRow<'_>) -> [u64; 2] {
    let place = row.tid | u64::from(row.popcount) << 48;
    [row.threshold.to_bits(), place]
}

pub fn unpack<'a>(geometry: &Geometry, words: &'a [u64]) -> SignatureRow<'a> {
    let stride = geometry.stride;
    SignatureRow {
        words: &words[..stride],
        threshold: f64::from_bits(words[stride]),
        tid: words[stride + 1] & ((1 << 48) - 1),
        popcount: (words[stride + 1] >> 48) as u32,
    }
}
