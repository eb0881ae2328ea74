//! Texts by number, in temporary files.

use pgrx::pg_sys;

use super::temporary::TemporaryFile;
use crate::function::rows::new_text;

/// Texts by number, in temporary files.
pub struct Texts {
    texts: TemporaryFile,
    /// Where each begins (u64), and its length (u32, `u32::MAX` for NULL).
    entries: TemporaryFile,
}

const ENTRY: u64 = 12;

impl Texts {
    /// No texts yet.
    pub fn new() -> Texts {
        Texts {
            texts: TemporaryFile::new(),
            entries: TemporaryFile::new(),
        }
    }

    /// Adds a text, or NULL, under the next number; the first is 0.
    pub fn push(&mut self, text: Option<&[u8]>) {
        let mut entry = [0; ENTRY as usize];
        entry[..8].copy_from_slice(&self.texts.len().to_le_bytes());
        let len = text.map_or(u32::MAX, |t| t.len() as u32);
        entry[8..].copy_from_slice(&len.to_le_bytes());
        self.entries.append(&entry);
        self.texts.append(text.unwrap_or(&[]));
    }

    /// The bytes of a text; none for NULL.
    pub fn bytes(&mut self, number: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.find(number).unwrap_or(0)];
        self.texts.read(&mut bytes);
        bytes
    }

    /// A text as a value, in the current memory context; `None` for NULL.
    pub fn get(&mut self, number: u64) -> Option<pg_sys::Datum> {
        let len = self.find(number)?;
        Some(new_text(len, |text| self.texts.read(text)))
    }

    /// Goes to the beginning of a text. Gives its length in bytes; `None` for NULL.
    fn find(&mut self, number: u64) -> Option<usize> {
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
        Some(len as usize)
    }
}
