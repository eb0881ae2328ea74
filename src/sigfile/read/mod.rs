//! Reading what an index holds: segments, lists of blocks.

mod blocks;
pub mod cache;
mod description;
mod reader;

pub use blocks::{in_use, read_list, BlockSet};
pub use description::{describe, load, SegmentDescription, MAP_HEADER};
pub use reader::{check_places, SegmentReader};
