//! Joining a segment with rows: all rows of it that are similar to one row after the other, as quickly as many of
//! them can be searched.
//!
//! A search by itself looks at each candidate's row page, which costs more than all else. Here the rows' bits are
//! kept folded to 128 by exclusive or (an XOR fold, see `bits::fold`), so two rows differ in at least as many
//! bits as their folds do. A row that agrees in a chunk by chance differs in about half of its folded bits, and is
//! dropped without a look at its page. And many rows are searched for at a time, value by value. A million records of 581
//! bits, each searched at 0.85 for those that come after it, in the server: 160 µs a record as searches, 40 with folds, 22
//! with folds by value.

mod batch;
mod block;
mod candidates;
mod compare;
mod flips;
mod folds;
mod joiner;
mod plan;
mod probe;
mod search;

pub use batch::{Batch, COSTS};
pub use folds::Folds;
pub use joiner::Joiner;
