//! Keys of records as numbers.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use bloom_ident_core::{Error, ErrorKind};
use hashbrown::HashTable;

use crate::pg::budget::{push, reserve};
use crate::pg::check_for_interrupts;
use crate::pg::error::raise;

/// Not a record.
pub const NONE: u32 = u32::MAX;

/// Texts in the order in which they came first.
pub struct Numbers {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: RandomState,
}

impl Numbers {
    pub fn new() -> Numbers {
        Numbers {
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
            // a number and a byte of its hash
            + (size_of::<u32>() + 1) * self.table.capacity() * 8 / 7
    }

    pub fn key(&self, number: u32) -> &[u8] {
        let i = number as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    pub fn get(&self, key: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        let found = self.table.find(hash, |&n| self.key(n) == key);
        found.copied()
    }

    /// The number of a key, which is given one if it has none.
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
        let Numbers {
            bytes,
            ends,
            table,
            hasher,
        } = self;
        let hash_of = |&n: &u32| {
            // where the table grows it is called for all keys
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

    /// The numbers in the order of their keys' bytes, as collation "C" has it. 4 bytes a key.
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

/// For each of `n` numbers its place in `order`, [`NONE`] where it has none. 4 bytes a number.
pub fn places(order: &[u32], n: usize) -> Vec<u32> {
    let mut places = Vec::new();
    reserve(&mut places, n);
    places.resize(n, NONE);
    for (number, place) in order.iter().zip(0..) {
        check_for_interrupts();
        places[*number as usize] = place;
    }
    places
}
