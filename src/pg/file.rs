//! Temporary files that are read at random.

use pgrx::pg_sys;

use crate::pg::check_for_interrupts;
use crate::pg::function::rows::new_text;

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

/// Texts by number, in temporary files.
pub struct Texts {
    texts: TemporaryFile,
    /// Where each begins (u64), and its length (u32, `u32::MAX` for NULL).
    entries: TemporaryFile,
}

const ENTRY: u64 = 12;

impl Texts {
    pub fn new() -> Texts {
        Texts {
            texts: TemporaryFile::new(),
            entries: TemporaryFile::new(),
        }
    }

    pub fn push(&mut self, text: Option<&[u8]>) {
        let mut entry = [0; ENTRY as usize];
        entry[..8].copy_from_slice(&self.texts.len.to_le_bytes());
        let len = text.map_or(u32::MAX, |t| t.len() as u32);
        entry[8..].copy_from_slice(&len.to_le_bytes());
        self.entries.append(&entry);
        self.texts.append(text.unwrap_or(&[]));
    }

    /// A text as a value, in the current memory context; `None` for NULL.
    pub fn get(&mut self, number: u64) -> Option<pg_sys::Datum> {
        let mut entry = [0; ENTRY as usize];
        self.entries.seek(ENTRY * number);
        self.entries.read(&mut entry);
        let (at, len) = entry.split_at(8);
        let len = u32::from_le_bytes(len.try_into().expect("four bytes"));
        if len == u32::MAX {
            return None;
        }
        self.texts
            .seek(u64::from_le_bytes(at.try_into().expect("eight bytes")));
        Some(new_text(len as usize, |text| self.texts.read(text)))
    }
}
