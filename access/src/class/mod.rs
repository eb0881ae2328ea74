//! Operator classes and options of an index.

pub mod leading;
pub mod options;
mod signature;
pub mod strategy;
pub mod validate;

pub use signature::{
    edits_in_index, has_thresholds, key_columns, mismatch, operators, queried_signature,
    signature_column, RowSignature, SignatureType,
};
