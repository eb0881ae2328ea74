//! All signatures of the records that a query gives, by the number of the record, in memory or, if they are many, in a temporary file.

use pg::budget::{push, reserve};
use pg::file::TemporaryFile;
use types::Bloom;

/// The profiles of the records of a relation, by their numbers from 1.
pub struct Profiles {
    attributes: usize,
    memory: usize,
    /// The profiles one after the other. Each has the length of every attribute in bytes (u32, `u32::MAX` for null), then the bits of
    /// the signatures.
    bytes: Vec<u8>,
    file: Option<TemporaryFile>,
    /// Where each profile ends. Like the profiles, this is in memory or in a file.
    ends: Vec<u64>,
    end: u64,
    ends_file: Option<TemporaryFile>,
    /// The numbers and the bytes of the two profiles that were read last.
    cached: [(u64, Vec<u8>); 2],
}

impl Profiles {
    /// The profiles take `memory` bytes of memory at most.
    pub fn new(attributes: usize, memory: usize) -> Profiles {
        Profiles {
            attributes,
            memory,
            bytes: Vec::new(),
            file: None,
            ends: Vec::new(),
            end: 0,
            ends_file: None,
            cached: Default::default(),
        }
    }

    /// Errors: out of memory.
    pub fn push(&mut self, signatures: &[Option<Bloom<'_>>]) {
        let bits = signatures.iter().flatten().map(|s| s.view().bits().len());
        let mut new = Vec::new();
        reserve(&mut new, 4 * signatures.len() + bits.sum::<usize>());
        for signature in signatures {
            let len = signature
                .as_ref()
                .map_or(u32::MAX, |s| s.view().bits().len() as u32);
            new.extend_from_slice(&len.to_le_bytes());
        }
        for signature in signatures.iter().flatten() {
            new.extend_from_slice(signature.view().bits());
        }
        self.end += new.len() as u64;
        if self.file.is_none() && self.bytes.len() + 8 * self.ends.len() + new.len() > self.memory {
            let (mut file, mut ends) = (TemporaryFile::new(), TemporaryFile::new());
            file.append(&std::mem::take(&mut self.bytes));
            for end in std::mem::take(&mut self.ends) {
                ends.append(&end.to_le_bytes());
            }
            (self.file, self.ends_file) = (Some(file), Some(ends));
        }
        if let (Some(file), Some(ends)) = (&mut self.file, &mut self.ends_file) {
            file.append(&new);
            ends.append(&self.end.to_le_bytes());
            return;
        }
        if self.bytes.capacity() - self.bytes.len() < new.len() {
            // It grows by an eighth at a time, since doubling would waste half of what is allowed.
            let more = new.len() + (self.bytes.len() / 8).max(1 << 12);
            reserve(&mut self.bytes, more);
        }
        self.bytes.extend_from_slice(&new);
        push(&mut self.ends, self.end);
    }

    /// The bytes of profile `number`, from 1.
    fn range(&mut self, number: u64) -> std::ops::Range<u64> {
        let before = number - 1;
        match &mut self.ends_file {
            None => {
                let from = if before == 0 {
                    0
                } else {
                    self.ends[before as usize - 1]
                };
                from..self.ends[before as usize]
            }
            Some(file) => {
                let mut ends = [0; 16];
                let at = before.saturating_sub(1);
                file.seek(8 * at);
                file.read(&mut ends[..8 * (number - at) as usize]);
                let (ends, _) = ends.as_chunks();
                let ends = [ends[0], ends[1]].map(u64::from_le_bytes);
                if before == 0 {
                    0..ends[0]
                } else {
                    ends[0]..ends[1]
                }
            }
        }
    }

    /// Reads profile `number` into one of the two that are cached.
    ///
    /// Errors: out of memory.
    pub fn load(&mut self, number: u64, slot: usize) {
        if self.cached[slot].0 == number {
            return;
        }
        let range = self.range(number);
        let len = (range.end - range.start) as usize;
        let (cached, bytes) = &mut self.cached[slot];
        *cached = number;
        bytes.clear();
        reserve(bytes, len);
        match &mut self.file {
            Some(file) => {
                bytes.resize(len, 0);
                file.seek(range.start);
                file.read(bytes);
            }
            None => bytes.extend_from_slice(&self.bytes[range.start as usize..range.end as usize]),
        }
    }

    /// The signatures of the profile that was read into a slot last.
    pub fn loaded(&self, slot: usize) -> Signatures<'_> {
        Signatures::of(&self.cached[slot].1, self.attributes)
    }
}

/// The bits of each attribute of a stored profile.
pub struct Signatures<'a> {
    lengths: std::slice::Iter<'a, [u8; 4]>,
    bits: &'a [u8],
}

impl<'a> Signatures<'a> {
    fn of(bytes: &'a [u8], attributes: usize) -> Signatures<'a> {
        let (lengths, bits) = bytes.split_at(4 * attributes);
        Signatures {
            lengths: lengths.as_chunks().0.iter(),
            bits,
        }
    }
}

impl<'a> Iterator for Signatures<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let len = u32::from_le_bytes(*self.lengths.next()?);
        if len == u32::MAX {
            return Some(None);
        }
        let (this, rest) = self.bits.split_at(len as usize);
        self.bits = rest;
        Some(Some(this))
    }
}
