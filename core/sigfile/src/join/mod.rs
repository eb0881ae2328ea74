//! Joining a segment with rows: all rows of it that are similar to one row after the other, as quickly as many of
//! them can be searched.
//!
//! A search by itself looks at each candidate's row page, which costs more than all else. Here the rows' bits are
//! kept folded to 128 by exclusive or (an XOR fold, see `bits::fold`), so two rows differ in at least as many
//! bits as their folds do. A row that agrees in a chunk by chance differs in about half of its folded bits, and is
//! dropped without a look at its page.
//!
//! And many rows are searched for at a time, chunk by chunk. Most of the time of a search goes to values near a row's
//! own that no row has. So where rows are many, the chunk's values of all rows that they can be similar to are put into
//! a table in memory, with a filter in front that fits into the processor's cache. Then a value that no row has costs 2
//! ns, which is 80 in the posting pages. Where they are few, they are looked up in these, value by value.
//!
//! Where so many bits may differ that folds of 128 bits tell little apart, as of long signatures half of whose bits are set,
//! each row of the batch is compared with all others, block by block: these are folded anew, to as many words as a sample of
//! pairs asks for.

mod batch;
mod block;
mod few;
mod joiner;
mod probe;
mod table;

pub use batch::Batch;
pub use few::{FewJoin, FewRows};
pub use joiner::Joiner;
pub use table::Folds;
