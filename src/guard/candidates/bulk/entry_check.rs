//! Whether a row that an index gives may matter to a search.

use std::cell::RefCell;

use pgrx::pg_sys;

use crate::guard::candidates::search_start::SearchStart;
use crate::guard::candidates::target::SearchTarget;
use crate::guard::compare::within::WithinColumns;
use crate::guard::row::FetchedRow;
use pg::ffi;
use pg::memory::Scratch;
use pg::relation::OpenRelation;
use pg::tid::Tid;

/// Looks at rows of a table with a dirty snapshot.
pub struct EntryCheck<'a> {
    row: FetchedRow,
    table: OpenRelation,
    start: &'a SearchStart,
    within: &'a WithinColumns,
    /// What hashing the values of rows allocates.
    scratch: RefCell<Scratch>,
}

impl<'a> EntryCheck<'a> {
    /// The target's table is locked, and of heap. The search began at `start`.
    pub fn new(target: &'a SearchTarget, start: &'a SearchStart) -> EntryCheck<'a> {
        let table = OpenRelation::locked_table(target.table);
        // SAFETY: the table is open as long as this.
        let row = unsafe { FetchedRow::none(table.pointer()) };
        EntryCheck {
            table,
            start,
            row,
            within: &target.within,
            scratch: RefCell::new(Scratch::new(c"bloom_ident values of rows")),
        }
    }

    /// Whether a search for a row with this hash of [`WithinColumns`] might count the row that an index entry leads to,
    /// or wait for it. If it is not certain that the row is gone for good, or not to be compared, the answer is yes.
    pub fn may_matter(&self, tid: Tid, hash: u64) -> bool {
        // SAFETY: the table is open.
        if !tid.is_possible() || !unsafe { tid.is_within(self.table.pointer()) } {
            return true;
        }
        let (table, mut at) = (self.table.pointer(), tid.pointer());
        let mut dirty = pg_sys::SnapshotData {
            snapshot_type: pg_sys::SnapshotType::SNAPSHOT_DIRTY,
            ..Default::default()
        };
        let mut is_dead = false;
        // SAFETY: the table is open, of heap, and has the block. The dirty snapshot is as InitDirtySnapshot() leaves
        // it, and SnapshotAny is a constant of the server's. The slot is made for the table, and holds the tuple with
        // its header.
        unsafe {
            if ffi::table_index_fetch_tuple_check(table, &mut at, &mut dirty, &mut is_dead) {
                return self.within.is_empty() || self.has_hash(tid, &mut dirty, hash);
            }
            // Dead to all transactions, so since before the search began.
            if is_dead {
                return false;
            }
            at = tid.pointer();
            let any = &raw mut pg_sys::SnapshotAnyData;
            if !ffi::table_tuple_fetch_row_version(table, &mut at, any, self.row.slot) {
                return true;
            }
            let tuple = pg_sys::ExecFetchSlotHeapTuple(self.row.slot, false, std::ptr::null_mut());
            let flags = u32::from((*(*tuple).t_data).t_infomask2);
            // Later versions of a chain are not looked at.
            flags & pg_sys::HEAP_HOT_UPDATED != 0 || self.start.was_ended_since(self.row.slot)
        }
    }

    /// Whether a version of the row that the snapshot sees has this hash, or none is seen any more. A version that is
    /// written from now on, with other values than the one before, is itself checked later than this.
    ///
    /// # Safety
    /// The table is open, and has the block of the tid; the snapshot is a dirty one.
    unsafe fn has_hash(&self, tid: Tid, dirty: pg_sys::Snapshot, hash: u64) -> bool {
        let (mut at, mut more, mut any, mut same) = (tid.pointer(), false, false, false);
        // SAFETY: the table is open and has the block, and the slot is made for it. The fetch ends here.
        unsafe {
            let fetch = pg_sys::table_index_fetch_begin(self.table.pointer());
            let dead = std::ptr::null_mut();
            while !same
                && ffi::table_index_fetch_tuple(
                    fetch,
                    &mut at,
                    dirty,
                    self.row.slot,
                    &mut more,
                    dead,
                )
            {
                any = true;
                let here = || self.within.hash(&self.row);
                same = self.scratch.borrow_mut().with(here) == Some(hash);
                if !more {
                    break;
                }
            }
            pg_sys::table_index_fetch_end(fetch);
            pg_sys::ExecClearTuple(self.row.slot);
        }
        same || !any
    }
}
