//! Byte strings by number.

use pgrx::pg_sys;

use super::SpillVec;
use crate::function::rows::text_datum;

/// Byte strings by their numbers from 0, each of which may be missing: in memory, or in temporary files if they are
/// many. All are appended before the first is read.
pub struct ByteStrings {
    /// One behind the other.
    bytes: SpillVec<u8>,
    /// Where each ends, and in the highest bit whether it is missing.
    ends: SpillVec<u64>,
    end: u64,
}

const MISSING: u64 = 1 << 63;

impl ByteStrings {
    /// None yet. They take `memory` bytes, or two pages.
    pub fn new(memory: usize) -> ByteStrings {
        ByteStrings {
            bytes: SpillVec::new(memory / 4 * 3),
            ends: SpillVec::new(memory / 4),
            end: 0,
        }
    }

    /// One more, under the next number.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, string: Option<&[u8]>) {
        let bytes = string.unwrap_or_default();
        self.bytes.extend(bytes);
        self.end += bytes.len() as u64;
        let missing = if string.is_none() { MISSING } else { 0 };
        self.ends.push(self.end | missing);
    }

    /// The bytes of one; `None` if it is missing. They stay in memory until the next call.
    pub fn get(&mut self, number: u64) -> Option<&[u8]> {
        let (from, to) = match *self.ends.get(number.saturating_sub(1)..number + 1) {
            [to] => (0, to),
            [from, to] => (from & !MISSING, to),
            _ => unreachable!("one end or two are read"),
        };
        (to & MISSING == 0).then(|| self.bytes.get(from..to))
    }

    /// The same as a text, in the current memory context.
    pub fn text(&mut self, number: u64) -> Option<pg_sys::Datum> {
        self.get(number).map(text_datum)
    }

    /// Goes on in files, and gives the memory back.
    pub fn spill(&mut self) {
        self.bytes.spill();
        self.ends.spill();
    }

    /// No byte strings any more.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.end = 0;
    }
}
