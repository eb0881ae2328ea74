//! Tokens: the elements of a set that stands for a message, a fingerprint or a basket.

mod hash;

pub use hash::token_hash;
