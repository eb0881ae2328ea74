//! Rows in the order of their bit counts, in memory or, if they are many, in a temporary file.

use std::ops::Range;

use bloom_ident_core::sigfile::{Geometry, SignatureRow};
use bloom_ident_core::{Error, ErrorKind};

use crate::pairs::pieces::Piece;
use crate::pg::check_for_interrupts;
use crate::pg::error::{raise, OrRaise};
use crate::pg::file::TemporaryFile;
use crate::sigfile::{merge, Collected, Run};

pub struct Sorted {
    geometry: Geometry,
    rows: u32,
    store: Store,
}

enum Store {
    Memory(Collected),
    /// The words of each row, then its place and, above 2^48, its bit count.
    File(TemporaryFile),
}

impl Sorted {
    /// Errors: more rows than can be numbered.
    pub fn new(geometry: Geometry, mut runs: Vec<Run<'static>>) -> Sorted {
        if let [Run::Collected(_)] = runs[..] {
            let Some(Run::Collected(collected)) = runs.pop() else {
                unreachable!("just seen");
            };
            return Sorted {
                geometry,
                rows: collected.len() as u32,
                store: Store::Memory(collected),
            };
        }
        let (mut file, mut rows, mut bytes) = (TemporaryFile::new(), 0u32, Vec::new());
        merge(&geometry, &mut runs, |row| {
            bytes.clear();
            let last = row.tid | u64::from(row.popcount) << 48;
            let words = row.words.iter().chain([&last]);
            bytes.extend(words.flat_map(|word| word.to_le_bytes()));
            file.append(&bytes);
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
            store: Store::File(file),
        }
    }

    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Passes on these rows.
    fn each(&mut self, rows: Range<u32>, to: &mut dyn FnMut(SignatureRow<'_>)) {
        let file = match &mut self.store {
            Store::Memory(collected) => {
                for i in rows {
                    check_for_interrupts();
                    to(collected.nth(i as usize));
                }
                return;
            }
            Store::File(file) => file,
        };
        let stride = self.geometry.stride;
        let mut bytes = vec![0; 8 * (stride + 1)];
        let mut row = Vec::new();
        file.seek(u64::from(rows.start) * bytes.len() as u64);
        for _ in rows {
            file.read(&mut bytes);
            let (words, _) = bytes.as_chunks();
            row.clear();
            row.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
            to(SignatureRow {
                words: &row[..stride],
                popcount: (row[stride] >> 48) as u32,
                threshold: 0.0,
                tid: row[stride] & ((1 << 48) - 1),
            });
        }
    }

    /// The least and the greatest bit count of some rows.
    pub fn counts(&mut self, rows: &Range<u32>) -> (u32, u32) {
        let mut of = |row: u32| {
            let mut count = 0;
            self.each(row..row + 1, &mut |row| count = row.popcount);
            count
        };
        (of(rows.start), of(rows.end - 1))
    }

    /// These rows as a piece of a table and side; `memory` bytes are used to sort.
    pub fn piece(&mut self, table: (u16, u8), rows: Range<u32>, memory: usize) -> Piece {
        let geometry = self.geometry;
        Piece::of_rows(table, geometry, memory, |to| self.each(rows, to))
    }
}
