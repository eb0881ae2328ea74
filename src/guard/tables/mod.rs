//! Tables as a guard sees them: their partitions, columns and primary keys.

pub mod column;
pub mod key;
pub mod named;
pub mod partition_tree;
