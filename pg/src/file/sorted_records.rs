//! Sorting more records of numbers than fit into memory: runs in temporary files, which are merged, in several passes where memory
//! does not suffice for all of them at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::sort::sort_records;
use pgrx::pg_sys;

use super::TemporaryFile;
use crate::budget::reserve;
use crate::check_for_interrupts;

/// Records of `N` numbers that are being collected. They are sorted by the first number first.
pub struct RecordSort<const N: usize> {
    buffer: Vec<[u64; N]>,
    /// How many fit into memory.
    most: usize,
    /// Files of runs; each run of a level has been made of many of the level below.
    levels: Vec<Runs>,
}

/// The buffer has room for so many records at least.
const LEAST: usize = 1024;

/// Runs in a file.
struct Runs {
    file: TemporaryFile,
    /// Where each run ends, in records.
    ends: Vec<u64>,
}

impl Runs {
    fn new() -> Runs {
        Runs {
            file: TemporaryFile::new(),
            ends: Vec::new(),
        }
    }

    /// What was appended last is a run of records of so many numbers.
    fn end<const N: usize>(&mut self) {
        self.ends
            .push(self.file.len() / size_of::<[u64; N]>() as u64);
    }
}

impl<const N: usize> RecordSort<N> {
    /// Takes about `memory` bytes.
    pub fn new(memory: usize) -> RecordSort<N> {
        RecordSort {
            buffer: Vec::new(),
            most: (memory / size_of::<[u64; N]>()).max(LEAST),
            levels: Vec::new(),
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
            reserve(&mut self.buffer, len.max(LEAST).min(self.most - len));
        } else {
            self.spill();
        }
    }

    /// Runs that are merged at once; each is read by pages.
    fn fan(&self) -> usize {
        let memory = self.most * size_of::<[u64; N]>();
        (memory / pg_sys::BLCKSZ as usize).clamp(8, 256)
    }

    fn spill(&mut self) {
        sort_records(&mut self.buffer, check_for_interrupts);
        if self.levels.is_empty() {
            self.levels.push(Runs::new());
        }
        self.levels[0].file.append_words(self.buffer.as_flattened());
        self.levels[0].end::<N>();
        self.buffer.clear();
        for level in 0.. {
            if self.levels[level].ends.len() < self.fan() {
                return;
            }
            // the runs take the memory meanwhile
            self.buffer = Vec::new();
            let full = std::mem::replace(&mut self.levels[level], Runs::new());
            if level + 1 == self.levels.len() {
                self.levels.push(Runs::new());
            }
            let merge = Merge::<N>::new(vec![full], self.most);
            merge.append_to(&mut self.levels[level + 1]);
        }
    }

    /// All of them in their order.
    pub fn finish(mut self) -> SortedRecords<N> {
        if self.levels.is_empty() {
            sort_records(&mut self.buffer, check_for_interrupts);
            return SortedRecords {
                buffer: self.buffer,
                at: 0,
                merge: None,
            };
        }
        self.spill();
        self.buffer = Vec::new();
        let fan = self.fan();
        let mut levels = std::mem::take(&mut self.levels);
        levels.retain(|level| !level.ends.is_empty());
        // a level has fewer than `fan`
        while levels.len() > 1 && levels.iter().map(|l| l.ends.len()).sum::<usize>() > fan {
            let lowest = levels.drain(..2).collect();
            let mut merged = Runs::new();
            Merge::<N>::new(lowest, self.most).append_to(&mut merged);
            levels.insert(0, merged);
        }
        SortedRecords {
            buffer: Vec::new(),
            at: 0,
            merge: Some(Merge::new(levels, self.most)),
        }
    }
}

/// Records in their order, repetitions included.
pub struct SortedRecords<const N: usize> {
    buffer: Vec<[u64; N]>,
    at: usize,
    merge: Option<Merge<N>>,
}

impl<const N: usize> SortedRecords<N> {
    /// Drops all but the files, after an error: the server has closed them.
    pub fn abandon(self) {
        let files = self.merge.map_or(Vec::new(), |merge| merge.files);
        files.into_iter().for_each(TemporaryFile::abandon);
    }
}

struct Merge<const N: usize> {
    files: Vec<TemporaryFile>,
    runs: Vec<Run<N>>,
    heads: BinaryHeap<Reverse<([u64; N], usize)>>,
}

struct Run<const N: usize> {
    /// Number of the file.
    file: usize,
    next: u64,
    end: u64,
    block: usize,
    records: Vec<[u64; N]>,
    at: usize,
}

impl<const N: usize> Merge<N> {
    /// Takes the memory of `most` records.
    fn new(levels: Vec<Runs>, most: usize) -> Merge<N> {
        let runs: usize = levels.iter().map(|level| level.ends.len()).sum();
        let block = (most / runs.max(1)).clamp(64, 1 << 16);
        let mut merge = Merge {
            files: Vec::new(),
            runs: Vec::with_capacity(runs),
            heads: BinaryHeap::with_capacity(runs),
        };
        for (file, level) in levels.into_iter().enumerate() {
            let mut begin = 0;
            for end in level.ends {
                merge.runs.push(Run {
                    file,
                    next: begin,
                    end,
                    block,
                    records: Vec::new(),
                    at: 0,
                });
                begin = end;
            }
            merge.files.push(level.file);
        }
        for run in 0..merge.runs.len() {
            merge.advance(run);
        }
        merge
    }

    /// Makes one run of all.
    fn append_to(mut self, to: &mut Runs) {
        const AT_ONCE: usize = 256;
        let mut some = Vec::with_capacity(AT_ONCE);
        while let Some(record) = self.next() {
            some.push(record);
            if some.len() == AT_ONCE {
                to.file.append_words(some.as_flattened());
                some.clear();
            }
        }
        to.file.append_words(some.as_flattened());
        to.end::<N>();
    }

    fn next(&mut self) -> Option<[u64; N]> {
        let Reverse((record, run)) = self.heads.pop()?;
        self.advance(run);
        Some(record)
    }

    /// Puts the next record of a run among the heads.
    fn advance(&mut self, number: usize) {
        let run = &mut self.runs[number];
        if run.at == run.records.len() {
            let some = ((run.end - run.next) as usize).min(run.block);
            if some == 0 {
                return;
            }
            run.records.resize(some, [0; N]);
            let file = &mut self.files[run.file];
            file.seek(run.next * size_of::<[u64; N]>() as u64);
            file.read_words(run.records.as_flattened_mut());
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
        match &mut self.merge {
            Some(merge) => merge.next(),
            None => {
                let record = self.buffer.get(self.at).copied();
                self.at += 1;
                record
            }
        }
    }
}
