//! Writing an index: building it, adding rows, sealing and merging, VACUUM.

pub mod build;
mod compact;
mod free_list;
pub mod insert;
mod maintain;
mod merge;
mod pool;
mod publish;
mod row;
mod segment;
pub mod vacuum;

pub use compact::compact;
use maintain::{maintain, tail_rows};
use pool::BlockPool;
pub use publish::MergeLock;
use publish::{MergeSources, UsedUpLists};
use row::check_shape;
pub use row::IndexRow;
use segment::write_segments;
