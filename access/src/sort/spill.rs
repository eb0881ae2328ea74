//! Rows in temporary files.

use base::{Error, Result};
use sigfile::{Geometry, SignatureRow};

use super::packed::{self, pack, unpack};
use super::{RowRun, RowsInMemory, SortedRuns};
use pg::file::TemporaryFile;

/// Sorted rows in a temporary file. All are written before the first is read.
pub struct SpilledRows {
    geometry: Geometry,
    file: TemporaryFile,
    /// Rows in the file that have not been read.
    left: u64,
    /// The next row, as soon as one has been read.
    row: Vec<u64>,
    started: bool,
}

impl SpilledRows {
    /// An empty file.
    ///
    /// Errors: out of memory.
    fn new(geometry: Geometry) -> Result<SpilledRows> {
        let width = packed::width(&geometry);
        let mut row = Vec::new();
        row.try_reserve_exact(width)
            .map_err(|_| Error::out_of_memory(8 * width))?;
        row.resize(width, 0);
        Ok(SpilledRows {
            geometry,
            file: TemporaryFile::new(),
            left: 0,
            row,
            started: false,
        })
    }

    /// Writes sorted rows.
    ///
    /// Errors: out of memory.
    pub fn write(geometry: Geometry, rows: &RowsInMemory) -> Result<SpilledRows> {
        let mut spilled = SpilledRows::new(geometry)?;
        for words in rows.packed() {
            spilled.append(words);
        }
        Ok(spilled)
    }

    /// Makes one file of several.
    ///
    /// Errors: out of memory.
    pub fn merged(geometry: Geometry, files: Vec<SpilledRows>) -> Result<SpilledRows> {
        let mut spilled = SpilledRows::new(geometry)?;
        let runs = files.into_iter().map(RowRun::Spilled).collect();
        let mut words = std::mem::take(&mut spilled.row);
        SortedRuns::of(geometry, runs).each(|row| {
            words[..geometry.stride].copy_from_slice(row.words);
            let rest = words.len() - geometry.stride;
            words[geometry.stride..].copy_from_slice(&pack(row)[..rest]);
            spilled.append(&words);
            Ok(())
        })?;
        spilled.row = words;
        Ok(spilled)
    }

    fn append(&mut self, words: &[u64]) {
        self.file.append_words(words);
        self.left += 1;
    }

    /// The next row, which stays the next until [`SpilledRows::advance`].
    pub fn next(&mut self) -> Option<SignatureRow<'_>> {
        if !self.started {
            self.file.seek(0);
            self.started = true;
            self.read();
        }
        (self.left > 0).then(|| unpack(&self.geometry, &self.row))
    }

    /// Goes on to the row behind the next one.
    pub fn advance(&mut self) {
        self.left -= 1;
        self.read();
    }

    fn read(&mut self) {
        if self.left > 0 {
            self.file.read_words(&mut self.row);
        }
    }
}
