//! Bloom-filter signatures: their shape, their bytes, how n-grams set bits, and what fill rates mean.
//!
//! A filter has k segments of p bits, p prime. An n-gram of index idx sets bit j·p + (h₁ + j·h₂) mod p in each
//! segment j, with h₁ = idx mod p and h₂ = idx mod (p−2) + 1 (disjoint coding, double hashing).

mod build;
mod layout;
mod plan;
pub mod query;
pub mod rates;
mod shape;

pub use build::{contains_text, Builder};
pub use layout::{parse_text, write_text, View, HEADER, VERSION};
pub use plan::{plan, FilterPlan, FPR_RANGE, MAX_CHARS};
pub use query::QueryView;
pub use shape::Shape;
