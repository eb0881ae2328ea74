//! Sorting more records than fit into memory: runs in temporary files, which are merged, in several passes where memory
//! does not suffice for all of them at once.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::BinaryHeap;

use base::sort::sort_records;
use pgrx::pg_sys::BLCKSZ;

use super::{SpillVec, TemporaryFile};
use crate::budget::reserve;
use crate::check_for_interrupts;

/// How records of some words are sorted.
pub trait SortOrder {
    /// What comes first has the lesser key.
    type Key: Ord + Copy;

    /// Words of a record.
    fn width(&self) -> usize;

    /// The key of a record.
    fn key(&self, record: &[u64]) -> Self::Key;

    /// Bytes that a record takes, also while it is sorted.
    fn bytes(&self) -> usize {
        size_of::<u64>() * self.width()
    }

    /// Sorts records that lie one behind the other; those of the same key keep their order if that makes a difference.
    ///
    /// Errors: out of memory.
    fn sort(&self, records: &mut [u64]);
}

/// Records of `N` numbers, by the first number first.
pub struct ByAll<const N: usize>;

impl<const N: usize> SortOrder for ByAll<N> {
    type Key = [u64; N];

    #[inline]
    fn width(&self) -> usize {
        N
    }

    #[inline]
    fn key(&self, record: &[u64]) -> [u64; N] {
        *record.first_chunk().expect("a record has N words")
    }

    fn sort(&self, records: &mut [u64]) {
        sort_records(records.as_chunks_mut::<N>().0, check_for_interrupts);
    }
}

/// Records that are being collected.
pub struct ExternalSort<O> {
    order: O,
    buffer: Vec<u64>,
    /// Words that fit into memory.
    most: usize,
    /// Files of runs; each run of a level has been made of many of the level below.
    levels: Vec<Runs>,
}

/// The buffer has room for so many words and records at least, so that wide ones make no more runs than can be.
const LEAST_WORDS: usize = 1024;
const LEAST_RECORDS: usize = 64;

/// Most words of a run that are read at a time.
const MOST_READ: usize = 1 << 16;

/// Runs in a file.
struct Runs {
    file: TemporaryFile,
    /// Where each run ends, in words.
    ends: Vec<u64>,
}

impl Runs {
    /// None yet.
    fn new() -> Runs {
        Runs {
            file: TemporaryFile::new(),
            ends: Vec::new(),
        }
    }

    /// What was appended last is a run.
    fn end(&mut self) {
        self.ends.push(self.file.len() / size_of::<u64>() as u64);
    }
}

impl<O: SortOrder> ExternalSort<O> {
    /// Takes about `memory` bytes.
    pub fn by(order: O, memory: usize) -> ExternalSort<O> {
        let width = order.width();
        let records = (memory / order.bytes()).max(LEAST_WORDS / width);
        ExternalSort {
            most: width * records.max(LEAST_RECORDS),
            order,
            buffer: Vec::new(),
            levels: Vec::new(),
        }
    }

    /// How the records are sorted.
    pub fn order(&self) -> &O {
        &self.order
    }

    /// One record more, in several parts.
    ///
    /// Errors: out of memory.
    #[inline]
    pub fn push_parts<const P: usize>(&mut self, parts: [&[u64]; P]) {
        if self.buffer.capacity() - self.buffer.len() < self.order.width() {
            self.make_room();
        }
        for part in parts {
            self.buffer.extend_from_slice(part);
        }
    }

    #[cold]
    fn make_room(&mut self) {
        let len = self.buffer.len();
        if len < self.most {
            reserve(&mut self.buffer, len.max(LEAST_WORDS).min(self.most - len));
        } else {
            self.spill();
        }
    }

    /// Runs that are merged at once; each is read by pages.
    fn fan(&self) -> usize {
        let memory = self.most * size_of::<u64>();
        (memory / BLCKSZ as usize).clamp(8, 256)
    }

    fn spill(&mut self) {
        self.order.sort(&mut self.buffer);
        if self.levels.is_empty() {
            self.levels.push(Runs::new());
        }
        self.levels[0].file.append(&self.buffer);
        self.levels[0].end();
        self.buffer.clear();
        for level in 0.. {
            if self.levels[level].ends.len() < self.fan() {
                return;
            }
            // the runs take the memory meanwhile
            self.buffer = Vec::new();
            let empty = Runs::new();
            let full = std::mem::replace(&mut self.levels[level], empty);
            if level + 1 == self.levels.len() {
                self.levels.push(Runs::new());
            }
            Merge::new(&self.order, vec![full], self.most)
                .append_to(&self.order, &mut self.levels[level + 1]);
        }
    }

    /// All of them in their order, either all in memory or all in files.
    pub fn finish(mut self) -> Sorted<O> {
        if self.levels.is_empty() {
            self.order.sort(&mut self.buffer);
            return Sorted {
                order: self.order,
                place: Place::Memory(self.buffer, 0),
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
            Merge::new(&self.order, lowest, self.most).append_to(&self.order, &mut merged);
            levels.insert(0, merged);
        }
        Sorted {
            place: Place::Files(Merge::new(&self.order, levels, self.most)),
            order: self.order,
        }
    }
}

/// Records in their order, repetitions included.
pub struct Sorted<O: SortOrder> {
    order: O,
    place: Place<O>,
}

enum Place<O: SortOrder> {
    /// All of them, and where the next one is.
    Memory(Vec<u64>, usize),
    Files(Merge<O>),
}

impl<O: SortOrder> Sorted<O> {
    /// The next record.
    #[inline]
    pub fn next_record(&mut self) -> Option<&[u64]> {
        match &mut self.place {
            Place::Memory(records, at) => {
                let record = records.get(*at..*at + self.order.width());
                *at += self.order.width();
                record
            }
            Place::Files(merge) => merge.next(&self.order),
        }
    }

    /// Drops all but the files, after an error: the server has closed them.
    pub fn abandon(self) {
        if let Place::Files(merge) = self.place {
            merge.files.into_iter().for_each(std::mem::forget);
        }
    }

    /// The words of all records, none of which has been read.
    pub fn into_vec(self) -> SpillVec<u64> {
        let mut merge = match self.place {
            Place::Memory(records, _) => return SpillVec::of(records),
            Place::Files(merge) => merge,
        };
        let mut words = SpillVec::new(0);
        while let Some(record) = merge.next(&self.order) {
            words.extend(record);
        }
        words.spill();
        words
    }
}

struct Merge<O: SortOrder> {
    files: Vec<TemporaryFile>,
    runs: Vec<Run>,
    /// The key of the next record of each run that has one.
    heads: BinaryHeap<Reverse<(O::Key, usize)>>,
    /// Whether the first of the heads has been given, so that its run goes on.
    is_given: bool,
}

struct Run {
    /// Number of the file.
    file: usize,
    /// What has not been read, in words.
    next: u64,
    end: u64,
    /// Words that are read at a time.
    block: usize,
    words: Vec<u64>,
    at: usize,
}

impl<O: SortOrder> Merge<O> {
    /// Takes the memory of `most` words.
    fn new(order: &O, levels: Vec<Runs>, most: usize) -> Merge<O> {
        let runs: usize = levels.iter().map(|level| level.ends.len()).sum();
        let records = (most / runs.max(1)).min(MOST_READ) / order.width();
        let mut merge = Merge {
            files: Vec::new(),
            runs: Vec::with_capacity(runs),
            heads: BinaryHeap::with_capacity(runs),
            is_given: false,
        };
        for (file, level) in levels.into_iter().enumerate() {
            let mut begin = 0;
            for end in level.ends {
                merge.runs.push(Run {
                    file,
                    next: begin,
                    end,
                    block: records.max(1) * order.width(),
                    words: Vec::new(),
                    at: 0,
                });
                begin = end;
            }
            merge.files.push(level.file);
        }
        for (number, run) in merge.runs.iter_mut().enumerate() {
            let head = run.head(&mut merge.files, order);
            merge.heads.extend(head.map(|key| Reverse((key, number))));
        }
        merge
    }

    /// Makes one run of all.
    fn append_to(mut self, order: &O, to: &mut Runs) {
        let mut some = Vec::with_capacity(LEAST_WORDS + order.width());
        while let Some(record) = self.next(order) {
            some.extend_from_slice(record);
            if some.len() >= LEAST_WORDS {
                to.file.append(&some);
                some.clear();
            }
        }
        to.file.append(&some);
        to.end();
    }

    fn next(&mut self, order: &O) -> Option<&[u64]> {
        let mut head = self.heads.peek_mut()?;
        if self.is_given {
            let Reverse((_, number)) = *head;
            let run = &mut self.runs[number];
            run.at += order.width();
            match run.head(&mut self.files, order) {
                Some(key) => {
                    *head = Reverse((key, number));
                    drop(head);
                }
                None => drop(PeekMut::pop(head)),
            }
        } else {
            drop(head);
        }
        self.is_given = true;
        let &Reverse((_, number)) = self.heads.peek()?;
        let run = &self.runs[number];
        Some(&run.words[run.at..run.at + order.width()])
    }
}

impl Run {
    /// The key of the next record, which is read if it has not been yet.
    fn head<O: SortOrder>(&mut self, files: &mut [TemporaryFile], order: &O) -> Option<O::Key> {
        if self.at == self.words.len() {
            let some = ((self.end - self.next) as usize).min(self.block);
            if some == 0 {
                return None;
            }
            self.words.resize(some, 0);
            let file = &mut files[self.file];
            file.seek(self.next * size_of::<u64>() as u64);
            file.read(&mut self.words);
            self.next += some as u64;
            self.at = 0;
        }
        Some(order.key(&self.words[self.at..self.at + order.width()]))
    }
}

/// Records of `N` numbers that are being collected. They are sorted by the first number first.
pub type RecordSort<const N: usize> = ExternalSort<ByAll<N>>;

/// Records of `N` numbers in their order, repetitions included.
pub type SortedRecords<const N: usize> = Sorted<ByAll<N>>;

impl<const N: usize> RecordSort<N> {
    /// Takes about `memory` bytes.
    pub fn new(memory: usize) -> RecordSort<N> {
        ExternalSort::by(ByAll, memory)
    }

    /// One record more.
    ///
    /// Errors: out of memory.
    #[inline]
    pub fn push(&mut self, record: [u64; N]) {
        self.push_parts([&record]);
    }
}

impl<const N: usize> Iterator for SortedRecords<N> {
    type Item = [u64; N];

    #[inline]
    fn next(&mut self) -> Option<[u64; N]> {
        self.next_record().map(|record| ByAll.key(record))
    }
}
