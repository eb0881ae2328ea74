//! Writing pages of rows.

use super::{Geometry, SignatureRow, TID};
use crate::bytes::{bytes_mut, halves_mut};

/// A page of rows to write.
pub struct RowPageMut<'a> {
    geometry: Geometry,
    words: &'a mut [u64],
}

impl<'a> RowPageMut<'a> {
    /// `words` is the content of a page of this geometry, or all zero.
    pub fn new(geometry: Geometry, words: &'a mut [u64]) -> Self {
        RowPageMut { geometry, words }
    }

    fn len(&self) -> usize {
        (self.words[0] as u32 as usize).min(self.geometry.capacity)
    }

    /// Adds a row behind the others; false if the page is full.
    pub fn push(&mut self, row: SignatureRow<'_>) -> bool {
        let g = self.geometry;
        let n = self.len();
        if n == g.capacity || self.words[0] >> 32 != 0 {
            return false;
        }
        self.words[1 + n * g.stride..1 + (n + 1) * g.stride].copy_from_slice(row.words);
        if g.thresholds {
            self.words[g.thresholds_at() + n] = row.threshold.to_bits();
        }
        if g.keys {
            halves_mut(&mut self.words[g.keys_at()..g.popcounts_at()])[n] = row.key;
        }
        halves_mut(&mut self.words[g.popcounts_at()..g.tids_at()])[n] = row.popcount;
        self.set_tid(n, row.tid);
        self.words[0] = n as u64 + 1;
        true
    }

    fn set_tid(&mut self, i: usize, tid: u64) {
        let at = TID * i;
        let tids = bytes_mut(&mut self.words[self.geometry.tids_at()..]);
        tids[at..at + TID].copy_from_slice(&tid.to_le_bytes()[..TID]);
    }

    /// Marks row `i` dead: its bits stay, and no search finds it.
    pub fn mark_dead(&mut self, i: usize) {
        self.set_tid(i, 0);
    }

    /// Lets no more rows in.
    pub fn close(&mut self) {
        self.words[0] |= 1 << 32;
    }
}
