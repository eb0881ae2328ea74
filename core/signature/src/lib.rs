//! Signatures: n-grams and tokens folded into Bloom filters ([`filter`]), into filters that texts can be removed from
//! again ([`counting`]), or into sketches of their least hashes ([`sketch`]); the kernels that count common bits
//! ([`bits`]); and how similar two are ([`similarity`]). [`fingerprint`] names everything that stored ones depend on.

#![warn(missing_docs)]

pub mod bits;
pub mod counting;
pub mod filter;
pub mod fingerprint;
pub mod similarity;
pub mod sketch;
mod split_mix;
mod version;

pub use split_mix::{mix, split_mix};
