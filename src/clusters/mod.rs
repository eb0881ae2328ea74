//! What is done with pairs: records are grouped into clusters, and pairs or clusters are measured where the truth is
//! known.

mod assign;
mod cluster_rows;
mod clustered;
mod grouping;
pub mod keeping;
pub mod pair_list;
mod quality;
mod queue;
mod reliability;
mod resolution;
pub mod source;
mod update;

pub use clustered::Clustered;
pub use grouping::{Grouping, Method};
pub use pair_list::PairList;
pub use resolution::{Resolution, Truth};
pub use source::Source;
