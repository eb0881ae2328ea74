//! Tables as a guard sees them: those that are searched, with their partitions, signatures and their columns, primary keys, indexes, the
//! columns that must be equal, and those of tokens.

pub mod column;
pub mod index;
pub mod key;
pub mod named;
pub mod partition_tree;
pub mod signature;
pub mod target;
pub mod tokens;
pub mod within;
