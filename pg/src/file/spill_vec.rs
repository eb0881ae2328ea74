//! A vector whose values go to a temporary file when they take more memory than they may.

use std::ops::Range;

use pgrx::pg_sys::BLCKSZ;

use super::{Plain, TemporaryFile};
use crate::budget::reserve;
use crate::check_for_interrupts;

/// Values by their numbers from 0: in memory, or in a temporary file if they are many. All are appended before the
/// first is read.
pub struct SpillVec<T> {
    /// All values, or those that have not been written yet; none once they are read from a file.
    memory: Vec<T>,
    /// How many of them there may be.
    most: usize,
    file: Option<TemporaryFile>,
    /// What was read last from the file.
    read: Vec<T>,
}

impl<T: Plain> SpillVec<T> {
    /// Takes `memory` bytes, or a page: with 0, a buffer in front of a file.
    pub fn new(memory: usize) -> SpillVec<T> {
        SpillVec {
            most: (memory.max(BLCKSZ as usize) / size_of::<T>()).max(1),
            ..SpillVec::of(Vec::new())
        }
    }

    /// These values, all in memory.
    pub fn of(memory: Vec<T>) -> SpillVec<T> {
        SpillVec {
            most: memory.len(),
            memory,
            file: None,
            read: Vec::new(),
        }
    }

    /// One value more.
    ///
    /// Errors: out of memory.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.extend(&[value]);
    }

    /// Some values more.
    ///
    /// Errors: out of memory.
    #[inline]
    pub fn extend(&mut self, values: &[T]) {
        if self.memory.capacity() - self.memory.len() < values.len() {
            self.make_room(values.len());
        }
        self.memory.extend_from_slice(values);
    }

    /// So many values more, which `write` writes over [`Plain::ZERO`].
    ///
    /// Errors: out of memory.
    pub fn extend_by(&mut self, more: usize, write: impl FnOnce(&mut [T])) {
        if self.memory.capacity() - self.memory.len() < more {
            self.make_room(more);
        }
        let at = self.memory.len();
        self.memory.resize(at + more, T::ZERO);
        write(&mut self.memory[at..]);
    }

    #[cold]
    fn make_room(&mut self, more: usize) {
        let len = self.memory.len();
        if len + more > self.most && len > 0 {
            self.flush();
        }
        let len = self.memory.len();
        if self.memory.capacity() - len < more {
            // it doubles, but for what is beyond what it may take
            let double = len.max(64).min(self.most.saturating_sub(len));
            reserve(&mut self.memory, double.max(more));
        }
    }

    /// Writes what is in memory behind what has been written.
    fn flush(&mut self) {
        let file = self.file.get_or_insert_with(TemporaryFile::new);
        file.append(&self.memory);
        self.memory.clear();
    }

    /// Goes on in a file, and gives the memory back.
    pub fn spill(&mut self) {
        self.flush();
        self.memory = Vec::new();
        self.most = SpillVec::<T>::new(0).most;
    }

    /// No values any more. The memory is kept, unless they were in a file.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.file = None;
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        let written = self.file.as_ref().map_or(0, TemporaryFile::len);
        written / size_of::<T>() as u64 + self.memory.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, unless they are in a file.
    #[inline]
    pub fn in_memory(&self) -> Option<&[T]> {
        self.file.is_none().then_some(&self.memory[..])
    }

    /// The file, if there is one, to which all is written.
    fn written(&mut self) -> Option<&mut TemporaryFile> {
        if self.file.is_some() && self.memory.capacity() > 0 {
            self.flush();
            self.memory = Vec::new();
        }
        self.file.as_mut()
    }

    /// Some values, which follow each other; they stay in memory until the next call.
    ///
    /// Errors: out of memory.
    pub fn get(&mut self, range: Range<u64>) -> &[T] {
        if self.file.is_none() {
            return &self.memory[range.start as usize..range.end as usize];
        }
        let mut read = std::mem::take(&mut self.read);
        self.read(range, &mut read);
        self.read = read;
        &self.read
    }

    /// Some values, which follow each other, instead of what is in `to`.
    ///
    /// Errors: out of memory.
    pub fn read(&mut self, range: Range<u64>, to: &mut Vec<T>) {
        if self.file.is_some() {
            // What is there is overwritten, not zeroed before.
            to.truncate((range.end - range.start) as usize);
            self.place(range, 0, to);
        } else {
            to.clear();
            self.append_to(range, to);
        }
    }

    /// Some values, which follow each other, behind what is in `to`.
    ///
    /// Errors: out of memory.
    pub fn append_to(&mut self, range: Range<u64>, to: &mut Vec<T>) {
        self.place(range, to.len(), to);
    }

    /// Some values, which follow each other, at a place of `to`, which ends behind them.
    fn place(&mut self, range: Range<u64>, at: usize, to: &mut Vec<T>) {
        let end = at + (range.end - range.start) as usize;
        if to.capacity() < end {
            reserve(to, (end - to.len()).max(at / 2));
        }
        match self.written() {
            None => to.extend_from_slice(&self.memory[range.start as usize..range.end as usize]),
            Some(file) => {
                to.resize(end, T::ZERO);
                file.seek(range.start * size_of::<T>() as u64);
                file.read(&mut to[at..]);
            }
        }
    }

    /// Gives all values to `each`, so many at a time, with the number of the first of them.
    pub fn each(&mut self, at_once: usize, mut each: impl FnMut(u64, &[T])) {
        let (all, at_once) = (self.len(), at_once as u64);
        for first in (0..all).step_by(at_once as usize) {
            check_for_interrupts();
            each(first, self.get(first..all.min(first + at_once)));
        }
    }

    /// The same, and keeps what `change` makes of them.
    pub fn change(&mut self, at_once: usize, mut change: impl FnMut(u64, &mut [T])) {
        if self.file.is_none() {
            for (i, some) in self.memory.chunks_mut(at_once).enumerate() {
                check_for_interrupts();
                change((i * at_once) as u64, some);
            }
            return;
        }
        let mut changed = SpillVec::new(0);
        let mut block = Vec::new();
        self.each(at_once, |first, some| {
            block.clear();
            block.extend_from_slice(some);
            change(first, &mut block);
            changed.extend(&block);
        });
        changed.spill();
        *self = changed;
    }
}
