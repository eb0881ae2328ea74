//! Pairs counted by their pattern and the searches that have found them: in memory, or in a temporary file where they
//! have no room there.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use linkage::model::things::PatternRuns;
use linkage::model::{CountedPatterns, Pattern, PatternBlock};

use crate::models::records::store::RowStore;
use pg::check_for_interrupts;
use pg::file::{RecordSort, SpillVec};
use signature::mix;

/// Two halves of a pattern, the upper one first, and the searches as bits.
type Key = [u64; 3];

fn key_of(pattern: Pattern, searches: u64) -> Key {
    [(pattern.0 >> 64) as u64, pattern.0 as u64, searches]
}

/// Mixes numbers; for keys that nobody makes on purpose.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(size_of::<u64>()) {
            let mut whole = [0; size_of::<u64>()];
            whole[..word.len()].copy_from_slice(word);
            self.write_u64(u64::from_ne_bytes(whole));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0 ^ word);
    }

    // of an array; all keys have the same
    fn write_usize(&mut self, _: usize) {}
}

/// Pairs that are being counted. What does not fit into memory is sorted in a temporary file.
pub struct PatternCounting {
    counts: HashMap<Key, u64, BuildHasherDefault<Mixed>>,
    /// Most keys in memory.
    most: usize,
    spilled: RecordSort<4>,
}

impl PatternCounting {
    /// Takes about `memory` bytes.
    pub fn new(memory: usize) -> PatternCounting {
        // A table has a power of two of places, of which seven in eight are used; it is half as large besides while it
        // grows.
        const PLACE: usize = size_of::<(Key, u64)>() + 1;
        let places = (memory / 2 / (PLACE + PLACE / 2)).max(1 << 10);
        PatternCounting {
            counts: HashMap::default(),
            most: (1usize << places.ilog2()) / 8 * 7,
            spilled: RecordSort::new(memory / 2),
        }
    }

    /// So many pairs more.
    #[inline]
    pub fn add(&mut self, pattern: Pattern, searches: u64, pairs: u64) {
        let key = key_of(pattern, searches);
        if let Some(count) = self.counts.get_mut(&key) {
            *count += pairs;
            return;
        }
        if self.counts.len() == self.most {
            self.spill();
        }
        self.counts.insert(key, pairs);
    }

    #[cold]
    fn spill(&mut self) {
        for ([high, low, searches], pairs) in self.counts.drain() {
            self.spilled.push([high, low, searches, pairs]);
        }
    }

    /// What has been counted, of which `memory` bytes are kept in memory.
    pub fn finish(mut self, memory: usize) -> PatternTable {
        self.spill();
        self.counts = HashMap::default();
        let mut table = PatternTable::new(memory);
        for (i, entry) in self.spilled.finish().enumerate() {
            if i % 1024 == 0 {
                check_for_interrupts();
            }
            table.add(pattern_of(&entry), entry[2], entry[3]);
        }
        table
    }
}

/// Compares pairs, which are `most` at most, and counts those whose records count by pattern and searches.
pub fn count(
    pairs: impl Iterator<Item = (u64, u64)>,
    most: u64,
    store: &mut RowStore,
    memory: usize,
) -> PatternCounting {
    store.expect(most);
    let mut counts = PatternCounting::new(memory);
    for (i, (pair, searches)) in pairs.enumerate() {
        if i % 256 == 0 {
            check_for_interrupts();
        }
        let compared = store.compare(pair);
        if compared.counts {
            counts.add(compared.pattern, searches, 1);
        }
    }
    counts
}

/// Two halves of a pattern, the upper one first; the searches as bits; how many pairs.
type Entry = [u64; 4];

/// Entries at a time.
const BLOCK: usize = 1024;

/// Patterns, each with the searches that have found its pairs, and how many those are. All are added before the first
/// is read.
pub struct PatternTable {
    entries: SpillVec<Entry>,
    last: Option<Entry>,
}

impl PatternTable {
    /// Takes about `memory` bytes.
    pub fn new(memory: usize) -> PatternTable {
        PatternTable {
            entries: SpillVec::new(memory),
            last: None,
        }
    }

    /// So many pairs more. What is the same but for the pairs comes one behind the other, and is one entry.
    pub fn add(&mut self, pattern: Pattern, searches: u64, pairs: u64) {
        let key @ [high, low, _] = key_of(pattern, searches);
        match &mut self.last {
            Some(last) if last[..3] == key => last[3] += pairs,
            last => {
                let before = last.replace([high, low, searches, pairs]);
                before.into_iter().for_each(|e| self.entries.push(e));
            }
        }
    }

    /// Gives all to `each`, by pattern and searches.
    pub fn each(&mut self, mut each: impl FnMut(Pattern, u64, u64)) {
        self.each_entries(|entries| {
            for entry in entries {
                each(pattern_of(entry), entry[2], entry[3]);
            }
        });
    }

    fn each_entries(&mut self, mut each: impl FnMut(&[Entry])) {
        let last = self.last.take();
        last.into_iter().for_each(|e| self.entries.push(e));
        self.entries.each(BLOCK, |_, entries| each(entries));
    }

    /// All pairs.
    pub fn pairs(&mut self) -> u64 {
        let mut all = 0;
        self.each(|_, _, pairs| all += pairs);
        all
    }
}

fn pattern_of(entry: &Entry) -> Pattern {
    Pattern(u128::from(entry[0]) << 64 | u128::from(entry[1]))
}

/// For a table of one set of searches.
impl PatternRuns for PatternTable {
    fn read(&mut self, first: u64, to: &mut Vec<(Pattern, u64)>) {
        let last = self.last.take();
        last.into_iter().for_each(|e| self.entries.push(e));
        let end = self.entries.len().min(first + BLOCK as u64);
        let entries = self.entries.get(first.min(end)..end).iter();
        to.clear();
        to.extend(entries.map(|entry| (pattern_of(entry), entry[3])));
    }
}

/// For a table of one set of searches.
impl CountedPatterns for PatternTable {
    fn each_block(&mut self, each: &mut dyn FnMut(&PatternBlock)) {
        let mut block = Vec::with_capacity(BLOCK);
        self.each_entries(|entries| {
            block.clear();
            block.extend(entries.iter().map(|entry| (pattern_of(entry), entry[3])));
            each(&block);
        });
    }
}
