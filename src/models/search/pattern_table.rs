//! Patterns with the searches that have found their pairs, in their order: in memory, or in a temporary file where they
//! have no room there.

use linkage::model::{CountedPatterns, Pattern, PatternBlock};

use pg::file::SpillVec;

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
        let key = [(pattern.0 >> 64) as u64, pattern.0 as u64, searches];
        match &mut self.last {
            Some(last) if last[..3] == key => last[3] += pairs,
            last => {
                let before = last.replace([key[0], key[1], key[2], pairs]);
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
