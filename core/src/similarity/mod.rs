//! Comparing signatures: the measures, thresholds, exact search, and weighted profiles.

mod candidates;
mod measure;
mod measures;
mod packed;
mod profile;
mod threshold;

pub use candidates::{candidates, Candidate};
pub use measure::Measure;
pub use measures::Popcounts;
pub use packed::PackedSignatures;
pub use profile::{profile, Weights};
pub use threshold::{above, at_least, jaccard_of_dice, least_common, LeastCommon};
