//! Writing an index: building it, adding rows, merging in steps, free blocks, VACUUM.

pub mod build;
mod compact;
pub mod insert;
mod maintain;
mod merge_lock;
mod merging;
pub mod vacuum;

pub use compact::Compaction;
use insert::check_shape;
pub use insert::IndexRow;
use maintain::{maintain, seal, tail_rows};
pub use merge_lock::MergeLock;
