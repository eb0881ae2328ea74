//! Tids: where a row is in its table.

use std::fmt;

use pgrx::pg_sys;

use crate::relation;

/// MaxHeapTuplesPerPage: header and line pointer are the least that a row takes.
const MOST_ROWS: u16 = {
    let align = pg_sys::MAXIMUM_ALIGNOF as usize;
    let header = std::mem::offset_of!(pg_sys::HeapTupleHeaderData, t_bits);
    let row = header.div_ceil(align) * align + size_of::<pg_sys::ItemIdData>();
    ((pg_sys::BLCKSZ as usize - size_of::<pg_sys::PageHeaderData>()) / row) as u16
};

/// A tid as the index stores it: block · 2^16 + offset, which is less than 2^48. Tids have the order that their rows
/// have in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tid(u64);

impl Tid {
    /// From the number that the index stores.
    #[inline]
    pub const fn of_stored(number: u64) -> Tid {
        Tid(number)
    }

    /// Of the line pointer `offset`, from 1, of a block.
    #[inline]
    pub const fn of_row(block: pg_sys::BlockNumber, offset: pg_sys::OffsetNumber) -> Tid {
        Tid((block as u64) << 16 | offset as u64)
    }

    /// The number that the index stores.
    #[inline]
    pub const fn stored(self) -> u64 {
        self.0
    }

    /// The block of the table.
    #[inline]
    pub const fn block(self) -> pg_sys::BlockNumber {
        (self.0 >> 16) as pg_sys::BlockNumber
    }

    /// The number of the line pointer in the block, from 1.
    #[inline]
    pub const fn offset(self) -> pg_sys::OffsetNumber {
        self.0 as pg_sys::OffsetNumber
    }

    /// As the server has it.
    #[inline]
    pub const fn pointer(self) -> pg_sys::ItemPointerData {
        pg_sys::ItemPointerData {
            ip_blkid: pg_sys::BlockIdData {
                bi_hi: (self.0 >> 32) as u16,
                bi_lo: (self.0 >> 16) as u16,
            },
            ip_posid: self.offset(),
        }
    }

    /// Whether a row of any table can be there.
    #[inline]
    pub fn is_possible(self) -> bool {
        (1..=MOST_ROWS).contains(&self.offset())
            && self.0 >> 16 < u64::from(pg_sys::InvalidBlockNumber)
    }

    /// Whether a table, NULL if it is not known, has the block. Only of heap tables is it a block of the file; of
    /// others the answer is always yes.
    ///
    /// # Safety
    /// `table` is open, or NULL.
    #[inline]
    pub unsafe fn is_within(self, table: pg_sys::Relation) -> bool {
        // SAFETY: the table is open wherever it is used.
        table.is_null()
            || unsafe { relation::has_block(table, self.block()) || !relation::is_heap(table) }
    }

    /// What is wrong with a tid that is not possible, or not within the table.
    #[cold]
    pub fn describe_impossible(self) -> String {
        format!("a row is at {self} of the table, where none can be")
    }
}

impl From<pg_sys::ItemPointerData> for Tid {
    #[inline]
    fn from(pointer: pg_sys::ItemPointerData) -> Tid {
        let block = pointer.ip_blkid;
        Tid(u64::from(block.bi_hi) << 32
            | u64::from(block.bi_lo) << 16
            | u64::from(pointer.ip_posid))
    }
}

/// As `ctid` is shown: `(block,offset)`.
impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.0 >> 16, self.offset())
    }
}
