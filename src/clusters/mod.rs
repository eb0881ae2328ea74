//! What is done with pairs: clusters of records, and how good pairs or clusters are where the truth is known.

mod dictionary;
mod grouping;
mod pair_list;
mod quality;
mod resolution;
mod source;
mod sweep;

pub use dictionary::KeyDictionary;
pub use grouping::{Clustered, Method};
pub use pair_list::PairList;
pub use resolution::{Resolution, Truth};
pub use source::Source;
