//! A dictionary of keys: every key gets a number, which takes less memory and compares faster.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use base::{Error, ErrorKind};
use hashbrown::HashTable;

use pg::budget::{push, reserve};
use pg::check_for_interrupts;
use pg::error::raise;

/// The number of no record, and the label of a record without one.
pub const NONE: u32 = u32::MAX;

/// Whose keys they are. Two records of two relations may have the same key, and a letter before it tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySides {
    One,
    Two,
}

impl KeySides {
    /// The number of a key of the left (0) or the right relation (1).
    ///
    /// Errors: as [`KeyDictionary::number`].
    pub fn number(self, keys: &mut KeyDictionary, side: usize, key: &[u8]) -> u32 {
        match self {
            KeySides::One => keys.number(key),
            KeySides::Two => keys.number(&[&[b"ab"[side]], key].concat()),
        }
    }

    /// The same of a key that may not be there.
    pub fn get(self, keys: &KeyDictionary, side: usize, key: &[u8]) -> Option<u32> {
        match self {
            KeySides::One => keys.get(key),
            KeySides::Two => keys.get(&[&[b"ab"[side]], key].concat()),
        }
    }

    /// The side of a key as the dictionary has it, and the key as the relation has it.
    pub fn split(self, key: &[u8]) -> (usize, &[u8]) {
        match (self, key) {
            (KeySides::Two, [side, key @ ..]) => (usize::from(*side == b'b'), key),
            _ => (0, key),
        }
    }
}

/// Keys as text in the database's encoding. They are numbered from 0 in the order in which they came first.
pub struct KeyDictionary {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: RandomState,
}

impl KeyDictionary {
    pub fn new() -> KeyDictionary {
        KeyDictionary {
            bytes: Vec::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            hasher: RandomState::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
            + size_of::<usize>() * self.ends.capacity()
            // A number and a byte of its hash.
            + (size_of::<u32>() + 1) * self.table.capacity() * 8 / 7
    }

    /// The key with this number, which there must be.
    pub fn key(&self, number: u32) -> &[u8] {
        let i = number as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    /// The number of a key, if it has one.
    pub fn get(&self, key: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        let found = self.table.find(hash, |&n| self.key(n) == key);
        found.copied()
    }

    /// The number of a key. A new key gets the next number.
    ///
    /// Errors: out of memory, more than 4,294,967,294 keys.
    pub fn number(&mut self, key: &[u8]) -> u32 {
        if let Some(number) = self.get(key) {
            return number;
        }
        let number = self.len() as u32;
        if self.len() >= NONE as usize - 1 {
            let message = format!("more than {number} different records");
            raise(&Error::new(ErrorKind::LimitExceeded, message));
        }
        if self.bytes.capacity() - self.bytes.len() < key.len() {
            let more = key.len().max(self.bytes.len() / 2).max(1024);
            reserve(&mut self.bytes, more);
        }
        self.bytes.extend_from_slice(key);
        push(&mut self.ends, self.bytes.len());
        let KeyDictionary {
            bytes,
            ends,
            table,
            hasher,
        } = self;
        let hash_of = |&n: &u32| {
            // When the table grows, this runs for every key.
            check_for_interrupts();
            let start = if n == 0 { 0 } else { ends[n as usize - 1] };
            hasher.hash_one(&bytes[start..ends[n as usize]])
        };
        if table.try_reserve(1, hash_of).is_err() {
            raise(&Error::out_of_memory(8 * table.len()));
        }
        table.insert_unique(hasher.hash_one(key), number, hash_of);
        number
    }

    /// The numbers in the order of their keys' bytes, which is that of collation "C". It takes 4 bytes a key.
    pub fn sorted(&self) -> Vec<u32> {
        let mut order = Vec::new();
        reserve(&mut order, self.len());
        order.extend(0..self.len() as u32);
        order.sort_unstable_by(|&x, &y| {
            check_for_interrupts();
            self.key(x).cmp(self.key(y))
        });
        order
    }
}

/// For each of `n` numbers its position in `order`, [`NONE`] if it is not in there. It takes 4 bytes a number.
///
/// Errors: out of memory.
pub fn positions(order: &[u32], n: usize) -> Vec<u32> {
    let mut positions = Vec::new();
    reserve(&mut positions, n);
    positions.resize(n, NONE);
    for (number, position) in order.iter().zip(0..) {
        check_for_interrupts();
        positions[*number as usize] = position;
    }
    positions
}
