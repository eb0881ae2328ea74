//! Reading what an index holds: segments and their descriptions, tails, merges in progress, lists of free blocks.

mod blocks;
mod description;
mod merges;
mod reader;
mod tail;

pub use blocks::{can_be_written, in_use, is_used, read_list, BlockSet};
pub use description::{describe, load, segment, SegmentDescription};
pub use merges::{merges, work_list, WorkList};
pub use reader::{check_tids, SegmentReader};
pub use tail::{TailBlocks, TailPage, TailPages};
