//! Joining rows by their signatures: pieces of rows, units of work over them, and the processes that do these.

pub mod bands;
pub mod loose;
pub mod parallel;
pub mod pieces;
mod row;
pub mod sample;
pub mod sorted;
pub mod timing;
pub mod units;

use pgrx::pg_sys;

use crate::pairs::table::IndexedTable;

pub use row::{RowPair, TableNumber, TableRow};

/// What a join gives its results to.
pub trait JoinSink {
    /// Takes a pair of similar rows, each pair once. No page of an index is locked meanwhile.
    fn pair(&mut self, pair: &RowPair);

    /// Is told that `done` of `all` comparisons are done, in units that only the join knows.
    fn progress(&mut self, done: u64, all: u64);
}

/// How many workers may help.
fn worker_limit(tables: &[IndexedTable]) -> usize {
    // SAFETY: these are settings and states of this process.
    let allowed = unsafe {
        if pg_sys::IsInParallelMode() || pg_sys::ParallelWorkerNumber >= 0 {
            0
        } else {
            pg_sys::max_parallel_workers_per_gather
        }
    };
    if tables.iter().any(IndexedTable::is_temporary) {
        return 0;
    }
    allowed.max(0) as usize
}
