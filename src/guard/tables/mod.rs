//! Tables as a guard sees them: those that are searched, their signatures, keys and indexes.

pub mod column;
pub mod key;
pub mod target;
