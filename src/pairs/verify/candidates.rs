//! Pairs of records that may be similar enough, collected as they are found.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::pairs::dictionary::KeyDictionary;
use pg::budget::reserve;
use pg::file::{RecordSort, SortedRecords};

/// A record, by 96 bits of a hash of its side and its key. Of a billion records two have the same with a probability of
/// 10⁻¹¹, and if they are candidates, that is taken for one key of two records, which is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordId {
    pub high: u64,
    pub low: u32,
}

impl RecordId {
    /// Of two hashes; of the second one the lower half counts.
    pub fn new(high: u64, low: u64) -> RecordId {
        let low = low as u32;
        RecordId { high, low }
    }
}

/// Says of a record whether it may be in a pair: always if it is, and seldom if not.
struct MayBe {
    words: Vec<u64>,
}

impl MayBe {
    /// Most words: 2²⁷ bits.
    const MOST: usize = 1 << 21;

    /// Takes at most `memory` bytes, or 8.
    fn new(memory: usize) -> MayBe {
        let most = (memory / size_of::<u64>()).clamp(1, MayBe::MOST);
        let n = 1 << most.ilog2();
        let mut words = Vec::new();
        reserve(&mut words, n);
        words.resize(n, 0);
        MayBe { words }
    }

    fn places(&self, id: RecordId) -> [(usize, u64); 2] {
        [id.high as u32, id.low].map(|hash| {
            let word = (hash >> 6) as usize & (self.words.len() - 1);
            (word, 1 << (hash & 63))
        })
    }

    fn add(&mut self, id: RecordId) {
        for (word, bit) in self.places(id) {
            self.words[word] |= bit;
        }
    }

    fn has(&self, id: RecordId) -> bool {
        let mut places = self.places(id).into_iter();
        places.all(|(word, bit)| self.words[word] & bit != 0)
    }
}

/// Candidates that are being collected.
pub struct CandidatePairs {
    /// Make the identities. Nobody knows beforehand what they will be.
    hashers: [RandomState; 2],
    may_be: MayBe,
    /// Both records, see [`pair_of`].
    pairs: RecordSort<3>,
    found: u64,
    /// The keys of all of them, as long as they are few.
    keys: Option<KeyDictionary>,
    /// The bytes that these may take.
    most_bytes: usize,
}

/// So many keys are few.
const FEW: usize = 100_000;

impl CandidatePairs {
    /// None yet. They take about `memory` bytes; more of them go to temporary files.
    pub fn new(memory: usize) -> CandidatePairs {
        CandidatePairs {
            hashers: [RandomState::new(), RandomState::new()],
            may_be: MayBe::new(memory / 4),
            pairs: RecordSort::new(memory / 4 * 3),
            found: 0,
            keys: None,
            most_bytes: memory / 4,
        }
    }

    /// The same, whose keys are kept as long as they are few, so that no other records have to be read. All are of
    /// side 0.
    pub fn with_keys(mut self) -> CandidatePairs {
        self.keys = Some(KeyDictionary::new());
        self
    }

    /// The keys of all of them, if these are few.
    pub fn keys(&self) -> Option<&KeyDictionary> {
        self.keys.as_ref()
    }

    /// The identity of the record of a side, 0 or 1, with this key.
    fn id(&self, side: usize, key: &[u8]) -> RecordId {
        let [high, low] = self
            .hashers
            .each_ref()
            .map(|hasher| hasher.hash_one((side, key)));
        RecordId::new(high, low)
    }

    /// The identities of the records of a pair, of which the first is of side 0, and the second of `side`.
    pub fn identify(&mut self, [a, b]: [&[u8]; 2], side: usize) -> [RecordId; 2] {
        if let Some(keys) = &mut self.keys {
            keys.number(a);
            keys.number(b);
            if keys.len() > FEW || keys.memory() > self.most_bytes {
                self.keys = None;
            }
        }
        [self.id(0, a), self.id(side, b)]
    }

    /// One more.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, [a, b]: [RecordId; 2]) {
        self.may_be.add(a);
        self.may_be.add(b);
        let low = u64::from(a.low) << 32 | u64::from(b.low);
        self.pairs.push([a.high, low, b.high]);
        self.found += 1;
    }

    /// The identity of a record, if it may be in a candidate.
    pub fn wanted(&self, side: usize, key: &[u8]) -> Option<RecordId> {
        let id = self.id(side, key);
        self.may_be.has(id).then_some(id)
    }

    /// All of them in the order of their first records, and how many there are.
    pub fn finish(self) -> (SortedRecords<3>, u64) {
        drop(self.may_be);
        (self.pairs.finish(), self.found)
    }
}

/// Both records of a candidate.
pub fn pair_of([a, low, b]: [u64; 3]) -> [RecordId; 2] {
    [RecordId::new(a, low >> 32), RecordId::new(b, low)]
}
