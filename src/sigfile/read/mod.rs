//! Reading what an index holds: segments and their descriptions, tails, lists of free blocks.

mod blocks;
pub mod cache;
mod description;
mod reader;
mod tail;

pub use blocks::{in_use, read_list, BlockSet};
pub use description::{describe, load, SegmentDescription};
pub use reader::{check_tids, SegmentReader};
pub use tail::{TailPage, TailPages};
