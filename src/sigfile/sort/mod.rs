//! Rows on their way into a segment: collected in memory, from there to temporary files if they are many,
//! and from segments that are merged; then all of them by bit count.

mod memory;
mod run;
mod spill;

use bloom_ident_core::sigfile::{Geometry, SignatureRow};
use bloom_ident_core::Result;
use pgrx::pg_sys;

use crate::pg::error::OrRaise;
pub use memory::RowsInMemory;
pub use run::{merge, RowRun, SegmentRows};
use spill::SpilledRows;

/// Sorts what was collected.
pub fn sorted(mut rows: RowsInMemory) -> RowsInMemory {
    rows.sort().or_raise();
    rows
}

/// Collects rows in bounded memory: those that do not fit go to temporary files, sorted.
pub struct ExternalSort {
    collected: RowsInMemory,
    /// Files of rows; each of a level has been made of many of the level below.
    levels: Vec<Vec<SpilledRows>>,
    memory: usize,
}

/// Rows that are collected in any case, so that wide ones make no more files than can be.
const LEAST_ROWS: usize = 64;

impl ExternalSort {
    /// `memory` bytes are used, but for what [`LEAST_ROWS`] take.
    pub fn new(geometry: Geometry, memory: usize) -> ExternalSort {
        ExternalSort {
            collected: RowsInMemory::new(geometry),
            levels: Vec::new(),
            memory,
        }
    }

    /// Errors: out of memory.
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

    /// Errors: out of memory.
    fn spill(&mut self) -> Result<()> {
        let geometry = self.collected.geometry;
        let mut rows = std::mem::replace(&mut self.collected, RowsInMemory::new(geometry));
        rows.sort()?;
        let mut file = SpilledRows::write(&rows)?;
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

    /// All of it in files, or in memory: what comes next needs the memory.
    ///
    /// Errors: out of memory.
    pub fn finish(mut self) -> Result<Vec<RowRun<'static>>> {
        if self.levels.is_empty() {
            self.collected.sort()?;
            return Ok(vec![RowRun::RowsInMemory(self.collected)]);
        }
        self.spill()?;
        let files = self.levels.into_iter().flatten();
        Ok(files.map(RowRun::SpilledRows).collect())
    }
}
