//! Sorting more numbers than fit into memory: runs in a temporary file, which are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bloom_ident_core::sort::sort_words;

use super::TemporaryFile;
use crate::pg::budget::reserve;
use crate::pg::check_for_interrupts;

/// Numbers that are being collected.
pub struct WordSort {
    buffer: Vec<u64>,
    /// How many fit into memory.
    most: usize,
    file: Option<TemporaryFile>,
    /// Where each run ends, in numbers.
    ends: Vec<u64>,
}

/// Numbers read at a time from a run.
const BLOCK: usize = 4096;

impl WordSort {
    /// Takes about `memory` bytes.
    pub fn new(memory: usize) -> WordSort {
        WordSort {
            buffer: Vec::new(),
            most: (memory / size_of::<u64>()).max(2 * BLOCK),
            file: None,
            ends: Vec::new(),
        }
    }

    /// One number more.
    ///
    /// Errors: out of memory.
    #[inline]
    pub fn push(&mut self, word: u64) {
        if self.buffer.len() == self.buffer.capacity() {
            self.make_room();
        }
        self.buffer.push(word);
    }

    #[cold]
    fn make_room(&mut self) {
        let len = self.buffer.len();
        if len < self.most {
            reserve(&mut self.buffer, len.clamp(1024, self.most - len));
        } else {
            self.spill();
        }
    }

    fn spill(&mut self) {
        sort_words(&mut self.buffer, check_for_interrupts);
        let file = self.file.get_or_insert_with(TemporaryFile::new);
        file.append_words(&self.buffer);
        self.ends.push(file.len() / size_of::<u64>() as u64);
        self.buffer.clear();
    }

    /// All of them in their order.
    pub fn finish(mut self) -> SortedWords {
        let Some(_) = self.file else {
            sort_words(&mut self.buffer, check_for_interrupts);
            return SortedWords {
                buffer: self.buffer,
                at: 0,
                merge: None,
            };
        };
        self.spill();
        self.buffer = Vec::new();
        let file = self.file.take().expect("the runs have been written");
        // as much as the numbers took, shared by the runs
        let block = (self.most / self.ends.len()).clamp(64, 1 << 16);
        let mut begin = 0;
        let mut merge = Merge {
            file,
            runs: Vec::new(),
            heads: BinaryHeap::new(),
        };
        for end in self.ends {
            merge.runs.push(Run {
                next: begin,
                end,
                block,
                words: Vec::new(),
                at: 0,
            });
            begin = end;
        }
        for run in 0..merge.runs.len() {
            merge.advance(run);
        }
        SortedWords {
            buffer: Vec::new(),
            at: 0,
            merge: Some(merge),
        }
    }
}

/// Numbers in their order, repetitions included.
pub struct SortedWords {
    buffer: Vec<u64>,
    at: usize,
    merge: Option<Merge>,
}

struct Merge {
    file: TemporaryFile,
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<(u64, usize)>>,
}

struct Run {
    next: u64,
    end: u64,
    block: usize,
    words: Vec<u64>,
    at: usize,
}

impl Merge {
    /// Puts the next number of a run among the heads.
    fn advance(&mut self, number: usize) {
        let run = &mut self.runs[number];
        if run.at == run.words.len() {
            let some = ((run.end - run.next) as usize).min(run.block);
            if some == 0 {
                return;
            }
            run.words.resize(some, 0);
            self.file.seek(run.next * size_of::<u64>() as u64);
            self.file.read_words(&mut run.words);
            run.next += some as u64;
            run.at = 0;
        }
        self.heads.push(Reverse((run.words[run.at], number)));
        run.at += 1;
    }
}

impl Iterator for SortedWords {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let Some(merge) = &mut self.merge else {
            let word = self.buffer.get(self.at).copied();
            self.at += 1;
            return word;
        };
        let Reverse((word, run)) = merge.heads.pop()?;
        merge.advance(run);
        Some(word)
    }
}
