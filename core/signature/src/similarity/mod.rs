//! Comparing signatures: the measures, thresholds, exact search, and weighted profiles.

mod candidates;
mod measure;
mod measures;
mod packed;
mod profile;
mod profile_bounds;
mod profile_plan;
mod threshold;

pub use candidates::{candidates, Candidate};
pub use measure::Measure;
pub use measures::Popcounts;
pub use packed::PackedSignatures;
pub use profile::{profile, profile_coverage, Weights};
pub use profile_bounds::ProfileRule;
pub use profile_plan::{ProfilePlan, SearchCosts};
pub use threshold::{above, at_least, jaccard_of_dice, least_common, LeastCommon};
