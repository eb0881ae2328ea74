//! Joining rows by their signatures: pieces of rows, units of work over them, and the processes that do these.

pub mod bands;
pub mod parallel;
pub mod pieces;
pub mod sorted;
pub mod units;
pub mod unlisted;

use pg::file::Plain;

/// What a join gives its results to.
pub trait JoinSink {
    /// Takes a pair of similar rows, each pair once. No page of an index is locked meanwhile.
    fn pair(&mut self, pair: &RowPair);

    /// Is told that `done` of `all` comparisons are done, in units that only the join knows.
    fn progress(&mut self, done: u64, all: u64);
}

/// The number of a table among those that are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableNumber(u16);

impl TableNumber {
    /// The unlisted rows of each side are joined as those of one more table, which has this number.
    pub const UNLISTED: [TableNumber; 2] = [TableNumber(u16::MAX - 1), TableNumber(u16::MAX)];

    /// There are numbers for so many tables.
    pub const MOST: usize = TableNumber::UNLISTED[0].0 as usize;

    /// The table at this index of a list. A list is checked against [`TableNumber::MOST`] before its tables get
    /// numbers.
    pub fn of_index(index: usize) -> TableNumber {
        assert!(index < TableNumber::MOST, "the number of tables is checked");
        TableNumber(index as u16)
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The side whose unlisted rows have this number; `None` if it is that of a table.
    pub fn unlisted_side(self) -> Option<usize> {
        TableNumber::UNLISTED
            .iter()
            .position(|&unlisted| unlisted == self)
    }
}

/// A row of one of the tables that are joined. The number of the table is in the upper 16 bits. The tid of the row, or
/// its number from 1 where rows are numbered, is in the lower 48.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct TableRow(u64);

/// Bits of a tid, or of a row's number.
const ROW_BITS: u32 = 48;

impl TableRow {
    #[inline]
    pub fn new(table: TableNumber, row: u64) -> TableRow {
        debug_assert!(row >> ROW_BITS == 0, "a row takes 48 bits");
        TableRow(u64::from(table.0) << ROW_BITS | row)
    }

    #[inline]
    pub fn table(self) -> TableNumber {
        TableNumber((self.0 >> ROW_BITS) as u16)
    }

    /// The tid, or the number.
    #[inline]
    pub fn row(self) -> u64 {
        self.0 & ((1 << ROW_BITS) - 1)
    }
}

// SAFETY: it is a number.
unsafe impl Plain for TableRow {
    const ZERO: TableRow = TableRow(0);
}

/// Two similar rows. Parallel workers send it as it is in memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RowPair {
    pub a: TableRow,
    pub b: TableRow,
    pub similarity: f64,
}
