//! What is done with pairs: clusters of records, and how good pairs or clusters are where the truth is known.

mod grouping;
mod numbers;
mod pairs;
mod quality;
mod side;
mod source;
mod sweep;

pub use grouping::{Clustered, Method};
pub use numbers::Numbers;
pub use pairs::Collected;
pub use side::{Side, Truth};
pub use source::Source;
