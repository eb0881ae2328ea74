//! Places in the table, as the index stores them: block · 2^16 + offset.

use pgrx::pg_sys;

/// MaxHeapTuplesPerPage: header and line pointer are the least that a row takes.
const MOST_ROWS: u64 = {
    let align = pg_sys::MAXIMUM_ALIGNOF as usize;
    let header = std::mem::offset_of!(pg_sys::HeapTupleHeaderData, t_bits);
    let row = header.div_ceil(align) * align + size_of::<pg_sys::ItemIdData>();
    ((pg_sys::BLCKSZ as usize - size_of::<pg_sys::PageHeaderData>()) / row) as u64
};

/// Whether a row can be at a place.
#[inline]
pub fn is_possible(place: u64) -> bool {
    (1..=MOST_ROWS).contains(&(place & 0xffff))
        && place >> 16 < u64::from(pg_sys::InvalidBlockNumber)
}

/// Whether a table, NULL if not known, has the block of a place. Only of heap tables is the place a block of the file.
///
/// SAFETY: `table` is open, or NULL.
#[inline]
pub unsafe fn is_within(table: pg_sys::Relation, place: u64) -> bool {
    // SAFETY: as promised by the caller.
    table.is_null()
        || unsafe {
            has_block(table, (place >> 16) as u32)
                || !std::ptr::eq((*table).rd_tableam, pg_sys::GetHeapamTableAmRoutine())
        }
}

/// For people.
#[cold]
pub fn describe(place: u64) -> String {
    let (block, offset) = (place >> 16, place & 0xffff);
    format!("a row is at ({block},{offset}) of the table, where none can be")
}

/// Whether a relation has a block. What is known of its length without asking the file system will do: relations in use only grow.
///
/// SAFETY: the relation is open.
#[inline]
pub unsafe fn has_block(relation: pg_sys::Relation, block: u32) -> bool {
    let main = pg_sys::ForkNumber::MAIN_FORKNUM;
    // SAFETY: as promised by the caller; the storage manager keeps the length it saw last.
    unsafe {
        let storage = (*relation).rd_smgr;
        if !storage.is_null() {
            let known = (*storage).smgr_cached_nblocks[main as usize];
            if known != pg_sys::InvalidBlockNumber && block < known {
                return true;
            }
        }
        block < pg_sys::RelationGetNumberOfBlocksInFork(relation, main)
    }
}
