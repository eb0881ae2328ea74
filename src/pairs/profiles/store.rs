//! All signatures of the records that a query gives, by the number of the record, in memory or, if they are many, in a
//! temporary file.

use pg::budget::reserve;
use pg::file::ByteStrings;
use types::Bloom;

/// The profiles of the records of a relation, by their numbers from 1.
pub struct Profiles {
    attributes: usize,
    /// Each has the length of every attribute in bytes (u32, `u32::MAX` for null), then the bits of the signatures.
    profiles: ByteStrings,
    /// The profile that is being added.
    new: Vec<u8>,
    /// The numbers and the bytes of the two profiles that were read last.
    cached: [(u64, Vec<u8>); 2],
}

impl Profiles {
    /// The profiles take `memory` bytes of memory at most.
    pub fn new(attributes: usize, memory: usize) -> Profiles {
        Profiles {
            attributes,
            profiles: ByteStrings::new(memory),
            new: Vec::new(),
            cached: Default::default(),
        }
    }

    /// Errors: out of memory.
    pub fn push(&mut self, signatures: &[Option<Bloom<'_>>]) {
        let bits = |signature: &Bloom<'_>| signature.view().bits().len();
        let all: usize = signatures.iter().flatten().map(bits).sum();
        self.new.clear();
        reserve(&mut self.new, 4 * signatures.len() + all);
        for signature in signatures {
            let len = signature.as_ref().map_or(u32::MAX, |s| bits(s) as u32);
            self.new.extend_from_slice(&len.to_le_bytes());
        }
        for signature in signatures.iter().flatten() {
            self.new.extend_from_slice(signature.view().bits());
        }
        self.profiles.push(Some(&self.new));
    }

    /// Reads profile `number` into one of the two that are cached.
    ///
    /// Errors: out of memory.
    pub fn load(&mut self, number: u64, slot: usize) {
        let (cached, bytes) = &mut self.cached[slot];
        if *cached != number {
            let profile = self.profiles.get(number - 1).unwrap_or_default();
            *cached = number;
            bytes.clear();
            reserve(bytes, profile.len());
            bytes.extend_from_slice(profile);
        }
    }

    /// The signatures of the profile that was read into a slot last.
    pub fn loaded(&self, slot: usize) -> Signatures<'_> {
        Signatures::new(&self.cached[slot].1, self.attributes)
    }
}

/// The bits of each attribute of a stored profile.
pub struct Signatures<'a> {
    lengths: std::slice::Iter<'a, [u8; 4]>,
    bits: &'a [u8],
}

impl<'a> Signatures<'a> {
    fn new(bytes: &'a [u8], attributes: usize) -> Signatures<'a> {
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
