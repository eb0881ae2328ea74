//! Temporary files that are read at random.

use pgrx::pg_sys;

use crate::pg::check_for_interrupts;
pub use crate::pg::texts::Texts;

/// Bytes that are read or written between two looks for interrupts.
const AT_ONCE: usize = 1 << 16;

/// A temporary file that goes with the transaction at the latest.
pub struct TemporaryFile {
    file: *mut pg_sys::BufFile,
    /// Bytes written.
    pub len: u64,
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: open since construction.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}

impl TemporaryFile {
    pub fn new() -> TemporaryFile {
        // SAFETY: the file is used by this backend only, and closed by it or at the end of the transaction.
        let file = unsafe {
            // chooses where
            pg_sys::PrepareTempTablespaces();
            pg_sys::BufFileCreateTemp(false)
        };
        TemporaryFile { file, len: 0 }
    }

    /// Writes at the end, where the file is as long as nothing has been read.
    pub fn append(&mut self, bytes: &[u8]) {
        for some in bytes.chunks(AT_ONCE) {
            check_for_interrupts();
            // SAFETY: so many bytes are readable.
            unsafe { pg_sys::BufFileWrite(self.file, some.as_ptr().cast_mut().cast(), some.len()) };
        }
        self.len += bytes.len() as u64;
    }

    /// The next [`TemporaryFile::read`] begins here.
    pub fn seek(&mut self, at: u64) {
        // SAFETY: the file is open; 0 is SEEK_SET.
        if unsafe { pg_sys::BufFileSeek(self.file, 0, at as pg_sys::off_t, 0) } != 0 {
            crate::pg::error::internal!("could not seek in a temporary file to byte {at}");
        }
    }

    pub fn read(&mut self, to: &mut [u8]) {
        for some in to.chunks_mut(AT_ONCE) {
            check_for_interrupts();
            let len = some.len();
            // SAFETY: so many bytes may be written.
            let got = unsafe { pg_sys::BufFileRead(self.file, some.as_mut_ptr().cast(), len) };
            if got != len {
                crate::pg::error::internal!(
                    "could not read a temporary file: read {got} of {len} bytes"
                );
            }
        }
    }
}
