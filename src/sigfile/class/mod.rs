//! Operator classes and options of an index.

mod column;
mod operators;
pub mod options;
pub mod strategy;
pub mod validate;

pub use column::{queried_signature, signature_column};
pub use operators::{has_thresholds, operators};
