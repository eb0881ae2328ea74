//! Tables as a guard sees them: those that are searched, with their partitions, signatures and their columns, primary keys, indexes and the
//! columns that must be equal.

pub mod column;
pub mod index;
pub mod key;
pub mod named;
pub mod partition_tree;
pub mod signature;
pub mod target;
pub mod within;
