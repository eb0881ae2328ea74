//! The identities of all values, one column for each field, in temporary files if they are many.

use linkage::model::keys::{together, EqualKeys};
use pg::check_for_interrupts;
use pg::file::{RecordSort, SortedRecords, SpillVec};

/// Identities of a field that are read or written at a time.
const BLOCK: usize = 4096;

/// One identity for each record and field; 0 where there is no value.
pub struct Identities {
    columns: Vec<SpillVec<u64>>,
    pub records: u32,
}

/// Bits of a record's number.
pub fn bits_of(records: u32) -> u32 {
    (u32::BITS - records.saturating_sub(1).leading_zeros()).max(1)
}

impl Identities {
    pub fn new(fields: usize) -> Identities {
        Identities {
            columns: (0..fields)
                .map(|_| SpillVec::new(BLOCK * size_of::<u64>()))
                .collect(),
            records: 0,
        }
    }

    /// The identities of the next record.
    pub fn push(&mut self, identities: &[u64]) {
        for (column, &identity) in self.columns.iter_mut().zip(identities) {
            column.push(identity);
        }
        self.records += 1;
    }

    /// Gives every record and its identities in these fields to `each`. No more records can be added afterwards.
    fn each_row(&mut self, fields: &[usize], mut each: impl FnMut(u32, &mut [u64])) {
        let mut blocks = vec![Vec::new(); fields.len()];
        let mut row = vec![0; fields.len()];
        let mut begin = 0;
        while begin < self.records {
            check_for_interrupts();
            let some = (self.records - begin).min(BLOCK as u32);
            for (block, &field) in blocks.iter_mut().zip(fields) {
                self.columns[field].read(begin.into()..(begin + some).into(), block);
            }
            for i in 0..some {
                for (identity, block) in row.iter_mut().zip(&blocks) {
                    *identity = block[i as usize];
                }
                each(begin + i, &mut row);
            }
            begin += some;
        }
    }

    /// Gives every record and what its values in these fields come to, to `each`. Records that lack one of them are
    /// left out, unless `missing_too`. No more records can be added afterwards.
    pub fn each(&mut self, fields: &[usize], missing_too: bool, mut each: impl FnMut(u32, u64)) {
        self.each_row(fields, |record, row| {
            if missing_too || !row.contains(&0) {
                each(record, together(row));
            }
        });
    }

    /// The records in blocks of those that have equal values in these fields. Two different values count as equal where
    /// the bits agree that are left of 64 besides a record's number.
    pub fn blocks(&mut self, fields: &[usize], missing_too: bool, memory: usize) -> Blocks {
        Blocks::sort(self.records, memory, |each| {
            self.each(fields, missing_too, each)
        })
    }

    /// The records in blocks of those that have a key in common, but for those whose key `is_left_out`. A record may be in two
    /// blocks.
    pub fn blocks_by(
        &mut self,
        keys: &EqualKeys,
        is_left_out: impl Fn(u64) -> bool,
        memory: usize,
    ) -> Blocks {
        Blocks::sort(self.records, memory, |each| {
            self.each_row(&keys.fields, |record, row| {
                keys.each(row, |key| {
                    if !is_left_out(key) {
                        each(record, key);
                    }
                })
            });
        })
    }
}

/// Records, those with equal values one behind the other.
pub struct Blocks {
    sorted: SortedRecords<1>,
    bits: u32,
    last: Option<u64>,
}

impl Blocks {
    /// Sorts `records` records, or some of them, by the words that `give` gives each. Sorting takes `memory` bytes.
    pub fn sort(
        records: u32,
        memory: usize,
        give: impl FnOnce(&mut dyn FnMut(u32, u64)),
    ) -> Blocks {
        let mut sort = BlockSort::new(records, memory);
        give(&mut |record, all| sort.push(record, all));
        sort.finish()
    }
}

/// Records that are being collected for blocks.
pub struct BlockSort {
    sort: RecordSort<1>,
    bits: u32,
}

impl BlockSort {
    /// Sorting so many records takes `memory` bytes. A record may come in several blocks.
    pub fn new(records: u32, memory: usize) -> BlockSort {
        BlockSort {
            sort: RecordSort::new(memory),
            bits: bits_of(records),
        }
    }

    /// A record with the word of a block.
    pub fn push(&mut self, record: u32, all: u64) {
        let block = all >> self.bits << self.bits;
        self.sort.push([block | u64::from(record)]);
    }

    /// The blocks, in the order of their words.
    pub fn finish(self) -> Blocks {
        Blocks {
            sorted: self.sort.finish(),
            bits: self.bits,
            last: None,
        }
    }
}

/// A record, and whether it is the first one of its block.
pub struct InBlock {
    pub record: u32,
    /// What tells the block apart from others.
    pub block: u64,
    pub is_first: bool,
}

impl Iterator for Blocks {
    type Item = InBlock;

    #[inline]
    fn next(&mut self) -> Option<InBlock> {
        let [word] = self.sorted.next()?;
        let block = word >> self.bits;
        let is_first = self.last.replace(block) != Some(block);
        Some(InBlock {
            record: (word & ((1 << self.bits) - 1)) as u32,
            block,
            is_first,
        })
    }
}
