//! Rows in the order of their popcounts, in memory or, if they are many, in a temporary file.

use std::ops::Range;

use base::{Error, ErrorKind};
use sigfile::{Geometry, SignatureRow};

use crate::pairs::join::pieces::JoinPiece;
use crate::pairs::join::TableNumber;
use access::{PackedRows, SortedRows};
use pg::check_for_interrupts;
use pg::error::raise;
use pg::file::SpillVec;

/// Rows in the order of their popcounts, numbered from 0.
pub struct Sorted {
    packed: PackedRows,
    rows: u32,
    words: SpillVec<u64>,
}

impl Sorted {
    /// Errors: more rows than can be numbered.
    pub fn new(rows: SortedRows) -> Sorted {
        let (packed, words) = rows.into_vec();
        let rows = u32::try_from(words.len() / packed.words() as u64).unwrap_or_else(|_| {
            let message = format!("more than {} records to compare", u32::MAX);
            raise(&Error::new(ErrorKind::LimitExceeded, message))
        });
        Sorted {
            packed,
            rows,
            words,
        }
    }

    pub fn geometry(&self) -> &Geometry {
        self.packed.geometry()
    }

    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Passes these rows to `to`.
    pub fn each(&mut self, rows: Range<u32>, to: &mut dyn FnMut(SignatureRow<'_>)) {
        let width = self.packed.words() as u64;
        for i in rows.map(u64::from) {
            check_for_interrupts();
            let words = self.words.get(i * width..(i + 1) * width);
            to(self.packed.row(words));
        }
    }

    /// The least and the greatest popcount of some rows.
    pub fn popcounts(&mut self, rows: &Range<u32>) -> (u32, u32) {
        let mut of = |row: u32| {
            let mut popcount = 0;
            self.each(row..row + 1, &mut |row| popcount = row.popcount);
            popcount
        };
        (of(rows.start), of(rows.end - 1))
    }

    /// Every `every`-th row as a piece of a table and side. Sorting takes `memory` bytes.
    ///
    /// Errors: out of memory.
    pub fn thinned(
        &mut self,
        table: (TableNumber, u8),
        every: u32,
        memory: usize,
    ) -> JoinPiece<'static> {
        let (geometry, rows) = (*self.geometry(), self.rows);
        JoinPiece::of_rows(table, geometry, memory, |to| {
            for row in (0..rows).step_by(every as usize) {
                self.each(row..row + 1, to);
            }
        })
    }

    /// These rows as a piece of a table and side. Sorting takes `memory` bytes.
    ///
    /// Errors: out of memory.
    pub fn piece(
        &mut self,
        table: (TableNumber, u8),
        rows: Range<u32>,
        memory: usize,
    ) -> JoinPiece<'static> {
        let geometry = *self.geometry();
        JoinPiece::of_rows(table, geometry, memory, |to| self.each(rows, to))
    }
}
