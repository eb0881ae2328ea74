//! Operator classes and options of an index.

pub mod leading;
pub mod options;
mod signature;
pub mod strategy;
pub mod validate;

pub use signature::{
    has_thresholds, key_columns, mismatch, operators, queried_signature, signature_column,
    RowSignature, SignatureType,
};
