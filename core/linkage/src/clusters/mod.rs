//! What is done with pairs of similar records once they are found: grouping them ([`clusters`],
//! [`mod@centres`], [`mod@average`]), and measuring them against a known truth ([`quality`]), at many thresholds at
//! once ([`sweep`]), and by the probability that is claimed of them ([`reliability`]); and choosing those to ask people
//! about ([`queue`]).
//!
//! Records are numbered from 0. No result depends on the order of the pairs.

pub mod average;
pub mod bounds;
pub mod bridges;
pub mod centres;
pub mod components;
pub mod decisions;
mod forest;
pub mod links;
pub mod quality;
pub mod queue;
pub mod reliability;
pub mod succession;
pub mod sweep;
#[cfg(test)]
mod tests;

pub use average::average;
pub use bounds::{Bounds, Decided};
pub use bridges::bridges;
pub use centres::centres;
pub use components::{components, labels, Clusters, Member};
pub use decisions::{decided, Contradiction, Decision, OnConflict, Verdict};
pub use links::{Link, Links, Pair};
pub use quality::{b_cubed, PairCounts, Rates};
pub use reliability::{Band, Reliability};
pub use succession::{succession, Change, Successor};
pub use sweep::{Sweep, SweepStep};
