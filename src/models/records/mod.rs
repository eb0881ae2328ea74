//! The records that are compared, in temporary files and in memory.

pub mod given_keys;
pub mod identities;
pub mod labels;
pub mod large_blocks;
pub mod prepared;
pub mod read;
pub mod sketches;
pub mod store;
