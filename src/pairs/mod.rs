//! All pairs of similar records, in one table or between two.

mod duplicates;
mod join;
mod keys;
mod profiles;
pub mod records;
mod stream;
pub mod unique;

pub use duplicates::each_pair;
