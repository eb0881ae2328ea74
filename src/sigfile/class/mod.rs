//! Operator classes and options of an index.

mod operators;
pub mod options;
pub mod strategy;
pub mod validate;

pub use operators::{has_thresholds, operators};
