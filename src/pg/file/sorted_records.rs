//! Sorting more records of numbers than fit into memory: runs in a temporary file, which are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bloom_ident_core::sort::sort_records;

use super::TemporaryFile;
use crate::pg::budget::reserve;
use crate::pg::check_for_interrupts;

/// Records of `N` numbers that are being collected. They are sorted by the first number first.
pub struct RecordSort<const N: usize> {
    buffer: Vec<[u64; N]>,
    /// How many fit into memory.
    most: usize,
    file: Option<TemporaryFile>,
    /// Where each run ends, in records.
    ends: Vec<u64>,
}

/// The buffer has room for so many records at least.
const LEAST: usize = 1024;

impl<const N: usize> RecordSort<N> {
    /// Takes about `memory` bytes.
    pub fn new(memory: usize) -> RecordSort<N> {
        RecordSort {
            buffer: Vec::new(),
            most: (memory / size_of::<[u64; N]>()).max(LEAST),
            file: None,
            ends: Vec::new(),
        }
    }

    /// One record more.
    ///
    /// Errors: out of memory.
    #[inline]
    pub fn push(&mut self, record: [u64; N]) {
        if self.buffer.len() == self.buffer.capacity() {
            self.make_room();
        }
        self.buffer.push(record);
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
        sort_records(&mut self.buffer, check_for_interrupts);
        let file = self.file.get_or_insert_with(TemporaryFile::new);
        file.append_words(self.buffer.as_flattened());
        self.ends.push(file.len() / size_of::<[u64; N]>() as u64);
        self.buffer.clear();
    }

    /// All of them in their order.
    pub fn finish(mut self) -> SortedRecords<N> {
        let Some(_) = self.file else {
            sort_records(&mut self.buffer, check_for_interrupts);
            return SortedRecords {
                buffer: self.buffer,
                at: 0,
                merge: None,
            };
        };
        self.spill();
        self.buffer = Vec::new();
        let file = self.file.take().expect("the runs have been written");
        // as much as the records took, shared by the runs
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
                records: Vec::new(),
                at: 0,
            });
            begin = end;
        }
        for run in 0..merge.runs.len() {
            merge.advance(run);
        }
        SortedRecords {
            buffer: Vec::new(),
            at: 0,
            merge: Some(merge),
        }
    }
}

/// Records in their order, repetitions included.
pub struct SortedRecords<const N: usize> {
    buffer: Vec<[u64; N]>,
    at: usize,
    merge: Option<Merge<N>>,
}

struct Merge<const N: usize> {
    file: TemporaryFile,
    runs: Vec<Run<N>>,
    heads: BinaryHeap<Reverse<([u64; N], usize)>>,
}

struct Run<const N: usize> {
    next: u64,
    end: u64,
    block: usize,
    records: Vec<[u64; N]>,
    at: usize,
}

impl<const N: usize> Merge<N> {
    /// Puts the next record of a run among the heads.
    fn advance(&mut self, number: usize) {
        let run = &mut self.runs[number];
        if run.at == run.records.len() {
            let some = ((run.end - run.next) as usize).min(run.block);
            if some == 0 {
                return;
            }
            run.records.resize(some, [0; N]);
            self.file.seek(run.next * size_of::<[u64; N]>() as u64);
            self.file.read_words(run.records.as_flattened_mut());
            run.next += some as u64;
            run.at = 0;
        }
        self.heads.push(Reverse((run.records[run.at], number)));
        run.at += 1;
    }
}

impl<const N: usize> Iterator for SortedRecords<N> {
    type Item = [u64; N];

    #[inline]
    fn next(&mut self) -> Option<[u64; N]> {
        let Some(merge) = &mut self.merge else {
            let record = self.buffer.get(self.at).copied();
            self.at += 1;
            return record;
        };
        let Reverse((record, run)) = merge.heads.pop()?;
        merge.advance(run);
        Some(record)
    }
}
