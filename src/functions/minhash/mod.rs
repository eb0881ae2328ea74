//! Sketches of sets of tokens: `minhash`, and `minhash_bits` with its queries.

mod order;
mod plan;
mod sign;
mod similarity;
mod threshold;
mod union;
