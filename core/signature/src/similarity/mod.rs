//! Comparing signatures: the measures, thresholds, exact search, and weighted profiles.

mod candidates;
mod edit_bound;
mod measure;
mod profile;

pub use candidates::{candidates, Candidate};
pub use edit_bound::{edit_bound, Edits};
pub use measure::{
    above, at_least, jaccard_of_dice, least_common, LeastCommon, Measure, Popcounts,
};
pub use profile::{profile, profile_coverage, ProfilePlan, ProfileRule, Weights};
