//! What is done with pairs: clusters of records, and how good pairs or clusters are where the truth is known.

mod dictionary;
mod grouping;
mod pair_list;
mod quality;
mod resolution;
mod source;
mod sweep;

pub use dictionary::Numbers;
pub use grouping::{Clustered, Method};
pub use pair_list::Collected;
pub use resolution::{Side, Truth};
pub use source::Source;
