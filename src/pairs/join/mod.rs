//! Joining rows by their signatures: pieces of rows, units of work over them, and the processes that do these.

pub mod bands;
pub mod loose;
pub mod parallel;
pub mod pieces;
pub mod sorted;
pub mod units;
