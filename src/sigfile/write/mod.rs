//! Writing an index: building it, adding rows, sealing and merging, VACUUM.

pub mod build;
mod compact;
mod free_list;
pub mod insert;
mod maintain;
mod pool;
mod publish;
mod rewrite;
mod row;
mod segment;
pub mod vacuum;

pub use compact::compact;
use maintain::{maintain, tail_rows};
use pool::Pool;
pub use publish::Publisher;
use publish::{Consumed, Sources};
use row::check_shape;
pub use row::NewRow;
use segment::write_segments;
pub use vacuum::item_pointer;
