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

pub use row::{RowPair, TableNumber, TableRow};

/// What a join gives its results to.
pub trait JoinSink {
    /// Takes a pair of similar rows, each pair once. No page of an index is locked meanwhile.
    fn pair(&mut self, pair: &RowPair);

    /// Is told that `done` of `all` comparisons are done, in units that only the join knows.
    fn progress(&mut self, done: u64, all: u64);
}
