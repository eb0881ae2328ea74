//! Operator classes and options of an index.

mod column;
pub mod leading;
pub mod options;
mod signature;
pub mod strategy;
pub mod validate;

pub use column::{has_thresholds, operators};
pub use column::{key_columns, queried_signature, signature_column};
pub use signature::{mismatch, RowSignature, SignatureType};
