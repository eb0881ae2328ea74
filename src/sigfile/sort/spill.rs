//! Rows in temporary files.

use bloom_ident_core::sigfile::{Geometry, SignatureRow};
use bloom_ident_core::{Error, Result};
use pgrx::pg_sys;

use super::memory::{pack, unpack};
use super::{merge, RowRun, RowsInMemory};
use crate::pg::check_for_interrupts;

/// Sorted rows in a temporary file.
pub struct SpilledRows {
    geometry: Geometry,
    file: *mut pg_sys::BufFile,
    /// Rows in the file that have not been read.
    left: u64,
    /// The next row, as soon as one has been read.
    row: Vec<u64>,
    started: bool,
}

impl SpilledRows {
    /// An empty file that goes with the transaction at the latest.
    ///
    /// Errors: out of memory.
    fn new(geometry: Geometry) -> Result<SpilledRows> {
        let width = geometry.stride + 2;
        let mut row = Vec::new();
        row.try_reserve_exact(width)
            .map_err(|_| Error::out_of_memory(8 * width))?;
        row.resize(width, 0);
        // SAFETY: the file is used by this backend only, and closed by it or at the end of the
        // transaction.
        let file = unsafe {
            // PrepareTempTablespaces() chooses where
            pg_sys::PrepareTempTablespaces();
            pg_sys::BufFileCreateTemp(false)
        };
        Ok(SpilledRows {
            geometry,
            file,
            left: 0,
            row,
            started: false,
        })
    }

    /// Writes sorted rows.
    ///
    /// Errors: out of memory.
    pub fn write(rows: &RowsInMemory) -> Result<SpilledRows> {
        let mut spilled = SpilledRows::new(rows.geometry)?;
        let width = rows.width();
        for &i in &rows.order {
            spilled.append(&rows.words[i as usize * width..(i as usize + 1) * width]);
        }
        Ok(spilled)
    }

    /// Makes one file of several.
    ///
    /// Errors: out of memory.
    pub fn merged(geometry: Geometry, files: Vec<SpilledRows>) -> Result<SpilledRows> {
        let mut spilled = SpilledRows::new(geometry)?;
        let mut runs: Vec<RowRun<'_>> = files.into_iter().map(RowRun::SpilledRows).collect();
        let mut words = std::mem::take(&mut spilled.row);
        merge(&geometry, &mut runs, |row| {
            words[..geometry.stride].copy_from_slice(row.words);
            words[geometry.stride..].copy_from_slice(&pack(row));
            spilled.append(&words);
            Ok(())
        })?;
        spilled.row = words;
        Ok(spilled)
    }

    fn append(&mut self, words: &[u64]) {
        check_for_interrupts();
        // SAFETY: so many bytes are readable.
        unsafe {
            pg_sys::BufFileWrite(
                self.file,
                words.as_ptr().cast_mut().cast(),
                size_of_val(words),
            )
        };
        self.left += 1;
    }

    /// The next row, which stays the next until [`SpilledRows::advance`].
    pub fn next(&mut self) -> Option<SignatureRow<'_>> {
        if !self.started {
            // SAFETY: the file is open.
            if unsafe { pg_sys::BufFileSeek(self.file, 0, 0, 0) } != 0 {
                crate::pg::error::internal!("could not rewind a temporary file");
            }
            self.started = true;
            self.read();
        }
        (self.left > 0).then(|| unpack(&self.geometry, &self.row))
    }

    pub fn advance(&mut self) {
        self.left -= 1;
        self.read();
    }

    fn read(&mut self) {
        if self.left == 0 {
            return;
        }
        let bytes = 8 * self.row.len();
        // SAFETY: so many bytes may be written; an ERROR if there are fewer.
        let got = unsafe { pg_sys::BufFileRead(self.file, self.row.as_mut_ptr().cast(), bytes) };
        if got != bytes {
            crate::pg::error::internal!(
                "could not read a temporary file: read {got} of {bytes} bytes"
            );
        }
    }
}

impl Drop for SpilledRows {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: open since construction.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}
