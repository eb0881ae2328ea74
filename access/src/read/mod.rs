//! Reading what an index holds: segments and their descriptions, tails, merges in progress, lists of free blocks.

mod blocks;
pub mod cache;
mod description;
mod merges;
mod reader;
mod tail;

pub use blocks::{can_be_written, in_use, is_used, read_list, BlockSet};
pub use description::{describe, load, SegmentDescription};
pub use merges::{merges, work_list, WorkList};
pub use reader::{check_tids, SegmentReader};
pub use tail::{TailBlocks, TailPage, TailPages};
