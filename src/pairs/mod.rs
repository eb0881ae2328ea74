//! All pairs of similar records, in one table or between two.

mod bands;
mod duplicates;
mod join;
mod keys;
mod loose;
mod parallel;
mod pieces;
mod profiles;
pub mod relation;
mod sorted;
mod stream;
pub mod unique;

pub use duplicates::each_pair;
