//! Bloom-filter signatures: their shape, their bytes, how n-grams and tokens set bits, and what fill rates mean.
//!
//! A filter has k segments of p bits, p prime. Hash family 0 is for n-grams. An n-gram of index idx sets bit
//! j·p + (h₁ + j·h₂) mod p in each segment j, with h₁ = idx mod p and h₂ = idx mod (p−2) + 1. That is disjoint coding
//! with double hashing (A. Kirsch, M. Mitzenmacher: Less Hashing, Same Performance: Building a Better Bloom Filter, ESA
//! 2006). Bloom filters of n-grams compare names in R. Schnell, T. Bachteler, J. Reiher: Privacy-Preserving Record
//! Linkage Using Bloom Filters, BMC Medical Informatics and Decision Making 9, 2009.
//!
//! Hash family 1 is for tokens. A token of hash h ([`text::tokens::token_hash`]) sets bit j·p + ⌊z·p/2⁶⁴⌋ in each
//! segment j, where z is number j of the sequence that the generator SplitMix64 gives from the state h on (G. L.
//! Steele, D. Lea, C. H. Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014). So the positions are
//! independent, and there are p^k patterns.

mod layout;
pub mod query;
pub mod rates;
mod set_bits;
mod shape;
pub mod typmod;

pub use crate::version::{newer_version, KEYED, VERSION};
pub use layout::{
    header_of, parse_id, parse_shape, parse_text, write_header, write_text, View, HEADER,
    KEYED_HEADER,
};
pub(crate) use layout::{write_hex, TextForm};
pub use query::{Edited, QueryView};
pub use rates::{
    is_full, omissions, plan, plan_tokens, FilterPlan, Omissions, FPR_RANGE, FULL, MAX_CHARS,
};
pub use set_bits::{contains_text, contains_token, date_shape, Builder};
pub(crate) use set_bits::{hash_positions, Hasher};
pub use shape::Shape;
