//! Rows in the order of their popcounts, in memory or, if they are many, in a temporary file.

use std::ops::Range;

use base::{Error, ErrorKind};
use sigfile::{Geometry, SignatureRow};

use crate::pairs::join::pieces::JoinPiece;
use crate::pairs::join::TableNumber;
use access::{join_tid, split_tid, RowsInMemory, SortedRuns};
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};
use pg::file::TemporaryFile;

/// Rows in the order of their popcounts, numbered from 0.
pub struct Sorted {
    geometry: Geometry,
    rows: u32,
    store: SortedStore,
}

enum SortedStore {
    Memory(RowsInMemory),
    /// For each row the words of its signature, then one word with the tid in the lower 48 bits and the popcount above.
    File(TemporaryFile),
}

impl Sorted {
    /// Errors: more rows than can be numbered.
    pub fn new(geometry: Geometry, runs: SortedRuns) -> Sorted {
        let mut runs = match runs.into_memory() {
            Ok(collected) => {
                return Sorted {
                    geometry,
                    rows: collected.len() as u32,
                    store: SortedStore::Memory(collected),
                };
            }
            Err(runs) => runs,
        };
        let (mut file, mut rows) = (TemporaryFile::new(), 0u32);
        runs.each(|row| {
            file.append_words(row.words);
            file.append_words(&[join_tid(row.tid, row.popcount)]);
            rows = rows.checked_add(1).unwrap_or_else(|| {
                let message = format!("more than {} records to compare", u32::MAX);
                raise(&Error::new(ErrorKind::LimitExceeded, message))
            });
            Ok(())
        })
        .or_raise();
        Sorted {
            geometry,
            rows,
            store: SortedStore::File(file),
        }
    }

    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Passes these rows to `to`.
    pub fn each(&mut self, rows: Range<u32>, to: &mut dyn FnMut(SignatureRow<'_>)) {
        let file = match &mut self.store {
            SortedStore::Memory(collected) => {
                for i in rows {
                    check_for_interrupts();
                    to(collected.nth(i as usize));
                }
                return;
            }
            SortedStore::File(file) => file,
        };
        let stride = self.geometry.stride;
        let mut row = vec![0; stride + 1];
        file.seek(u64::from(rows.start) * size_of_val(&row[..]) as u64);
        for _ in rows {
            file.read_words(&mut row);
            let (tid, popcount) = split_tid(row[stride]);
            to(SignatureRow {
                words: &row[..stride],
                popcount,
                threshold: 0.0,
                key: 0,
                tid,
            });
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
        let (geometry, rows) = (self.geometry, self.rows);
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
        let geometry = self.geometry;
        JoinPiece::of_rows(table, geometry, memory, |to| self.each(rows, to))
    }
}
