//! Writing an index: building it, adding rows, merging in steps, free blocks, VACUUM.

pub mod build;
mod chains;
mod compact;
mod free_list;
pub mod insert;
mod maintain;
mod merge_lock;
mod merging;
mod row;
mod segment;
mod truncate;
pub mod vacuum;

pub use compact::Compaction;
use maintain::{maintain, seal, tail_rows};
pub use merge_lock::MergeLock;
use row::check_shape;
pub use row::IndexRow;
use segment::write_segments;
