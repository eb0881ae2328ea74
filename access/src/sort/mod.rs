//! The external sort: rows on their way into a segment. They are collected in memory, from there in temporary files if they
//! are many; then all of them are read by popcount.

mod memory;
mod packed;
mod run;
mod spill;

use base::Result;
use pgrx::pg_sys;
use sigfile::{Geometry, SignatureRow};

pub use memory::RowsInMemory;
pub use packed::{join_tid, split_tid};
pub use run::{RowRun, SortedRuns};
use spill::SpilledRows;

/// Collects rows in bounded memory: those that do not fit go to temporary files, sorted.
pub struct ExternalSort {
    geometry: Geometry,
    collected: RowsInMemory,
    /// Files of rows; each of a level has been made of many of the level below.
    levels: Vec<Vec<SpilledRows>>,
    /// Bytes.
    memory: usize,
}

/// Rows that are collected in any case, so that wide ones make no more files than can be.
const LEAST_ROWS: usize = 64;

impl ExternalSort {
    /// Rows of one geometry. `memory` bytes are used, and more only if [`LEAST_ROWS`] rows take more.
    pub fn new(geometry: Geometry, memory: usize) -> ExternalSort {
        ExternalSort {
            geometry,
            collected: RowsInMemory::new(geometry),
            levels: Vec::new(),
            memory,
        }
    }

    /// Adds a row.
    ///
    /// Errors: out of memory; a row that cannot be.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        let n = self.collected.len();
        if n >= LEAST_ROWS && self.collected.bytes(n + 1) > self.memory {
            self.spill()?;
        }
        self.collected.push(row)
    }

    /// Files of a level, each of which has a buffer of a page and a row in memory.
    fn most_files(&self) -> usize {
        let file = pg_sys::BLCKSZ as usize + 8 * self.collected.width();
        (self.memory / 4 / file).clamp(8, 64)
    }

    /// Moves what is in memory to a file.
    ///
    /// Errors: out of memory.
    fn spill(&mut self) -> Result<()> {
        let geometry = self.geometry;
        let rows = std::mem::replace(&mut self.collected, RowsInMemory::new(geometry)).sorted()?;
        let mut file = SpilledRows::write(geometry, &rows)?;
        drop(rows);
        let most = self.most_files();
        for level in &mut self.levels {
            level.push(file);
            if level.len() < most {
                return Ok(());
            }
            file = SpilledRows::merged(geometry, std::mem::take(level))?;
        }
        self.levels.push(vec![file]);
        Ok(())
    }

    /// All rows, either all in memory or all in files: what comes next needs the memory.
    ///
    /// Errors: out of memory.
    pub fn finish(mut self) -> Result<SortedRuns> {
        if self.levels.is_empty() {
            let rows = self.collected.sorted()?;
            return Ok(SortedRuns::of(self.geometry, vec![RowRun::Memory(rows)]));
        }
        self.spill()?;
        let files = self.levels.into_iter().flatten();
        let runs = files.map(RowRun::Spilled).collect();
        Ok(SortedRuns::of(self.geometry, runs))
    }
}
