//! Comparing signatures: the measures, thresholds and weighted profiles.

mod measures;
mod profile;
mod threshold;

pub use measures::Counts;
pub use profile::{profile, Weights};
pub use threshold::least_common;
