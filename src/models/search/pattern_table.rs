//! Patterns with the searches that have found their pairs, in their order: in memory, or in a temporary file where they have no room there.

use linkage::model::{CountedPatterns, Pattern, PatternBlock};

use pg::budget::push;
use pg::check_for_interrupts;
use pg::file::TemporaryFile;

/// Two halves of a pattern, the upper one first; the searches as bits; how many pairs.
type Entry = [u64; 4];

/// Entries at a time.
const BLOCK: usize = 1024;

/// Entries as they come, in their order.
pub struct PatternTableBuilder {
    entries: Vec<Entry>,
    /// How many fit into memory.
    most: usize,
    file: Option<TemporaryFile>,
    last: Option<Entry>,
}

impl PatternTableBuilder {
    /// Takes about `memory` bytes.
    pub fn new(memory: usize) -> PatternTableBuilder {
        PatternTableBuilder {
            entries: Vec::new(),
            most: (memory / size_of::<Entry>()).max(BLOCK),
            file: None,
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
                self.put(before);
            }
        }
    }

    fn put(&mut self, entry: Option<Entry>) {
        let Some(entry) = entry else {
            return;
        };
        if self.entries.len() == self.most {
            self.spill();
        }
        push(&mut self.entries, entry);
    }

    fn spill(&mut self) {
        self.file
            .get_or_insert_with(TemporaryFile::new)
            .append_words(self.entries.as_flattened());
        self.entries.clear();
    }

    /// All entries.
    pub fn finish(mut self) -> PatternTable {
        let last = self.last.take();
        self.put(last);
        if self.file.is_some() {
            self.spill();
            self.entries = Vec::new();
        }
        PatternTable {
            entries: self.entries,
            file: self.file,
        }
    }
}

/// Patterns, each with the searches that have found its pairs, and how many those are.
pub struct PatternTable {
    entries: Vec<Entry>,
    file: Option<TemporaryFile>,
}

impl PatternTable {
    /// Gives all to `each`, by pattern and searches.
    pub fn each(&mut self, mut each: impl FnMut(Pattern, u64, u64)) {
        self.each_entries(|entries| {
            for entry in entries {
                each(pattern_of(entry), entry[2], entry[3]);
            }
        });
    }

    fn each_entries(&mut self, mut each: impl FnMut(&[Entry])) {
        let Some(file) = &mut self.file else {
            for entries in self.entries.chunks(BLOCK) {
                check_for_interrupts();
                each(entries);
            }
            return;
        };
        let mut entries = vec![[0; 4]; BLOCK];
        let mut left = (file.len() / size_of::<Entry>() as u64) as usize;
        file.seek(0);
        while left > 0 {
            let some = left.min(BLOCK);
            file.read_words(entries[..some].as_flattened_mut());
            each(&entries[..some]);
            left -= some;
        }
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
