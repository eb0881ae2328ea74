//! What is done with pairs: records are grouped into clusters, and pairs or clusters are measured where the truth is known.

mod assign;
mod grouping;
mod pair_list;
mod quality;
mod resolution;
mod source;
mod sweep;
mod truth;
mod update;

pub use grouping::{Clustered, Method};
pub use pair_list::PairList;
pub use resolution::Resolution;
pub use source::Source;
pub use truth::Truth;
