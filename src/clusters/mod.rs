//! What is done with pairs: records are grouped into clusters, pairs or clusters are measured where the truth is known,
//! and what people have answered corrects the model that has found them.

mod assign;
mod calibrate;
mod cluster_rows;
mod clustered;
mod grouping;
pub mod keeping;
mod pair_list;
mod quality;
mod reliability;
mod resolution;
mod source;
mod update;

pub use clustered::Clustered;
pub use grouping::{max_size, Grouping, Method};
pub use pair_list::{refuse_one_key, PairList, PairReader};
pub use resolution::{Resolution, Truth};
pub use source::Source;
