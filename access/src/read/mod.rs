//! Reading what an index holds: segments and their descriptions, tails, merges in progress, lists of free blocks.

mod blocks;
mod description;
mod tail;

pub use blocks::{
    can_be_written, in_use, is_used, merges, read_list, work_list, BlockSet, WorkList,
};
pub use description::{check_tids, describe, load, segment, SegmentDescription, SegmentReader};
pub use tail::{TailBlocks, TailPage};
