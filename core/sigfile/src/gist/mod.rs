//! Keys of a signature tree and what they say of all signatures below them.
//!
//! Such a tree is an S-tree (U. Deppisch: S-Tree: A Dynamic Balanced Signature Index for Office Retrieval, SIGIR 1986)
//! whose inner keys have an intersection and a range of popcounts besides the union.
//!
//! A leaf key is a signature, the sampled bits of a sketch, or a query of either, byte for byte. An inner key stands
//! for a set of them:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | marker 0x81 |
//! | 1 | 7 | the shape, as in a signature, or the last seven bytes of the tag of [`RowShape`](crate::RowShape) |
//! | 8 | 4 | least number of set bits, little-endian |
//! | 12 | 4 | greatest number of set bits |
//! | 16 | 8 | least threshold of the queries below, 0 for signatures, −1 for sampled bits |
//! | 24 | ⌈m/8⌉ | union: the bits that any has |
//! | … | ⌈m/8⌉ | intersection: the bits that all have |
//!
//! Sampled bits are compared by how many differ, see [`Measure`](signature::similarity::Measure). Those of an empty set
//! have no bits, and the popcount n + 1.
//!
//! Where signatures of several shapes meet, the inner key is the marker 0x82 and seven zeros, and says
//! nothing. Nothing here refuses another shape: what is in an index may belong to rows that are deleted or
//! were never committed, so only code that looks at the row can tell whether it is an error. New rows are refused
//! before they come here.

mod key;

pub use key::TreeKey;
pub use key::{inner_size, split, unite, united_size, LARGEST};
