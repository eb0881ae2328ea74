//! The fit of a mixture of classes of pairs to the counts of their patterns.

mod chance;
mod classes;
mod dependence;
mod em;
mod evidence;
mod exp;
mod expected;
mod learn;
mod shares;

pub use chance::{Chance, FieldFrequencies, FrequencyCount, Swap};
pub use classes::{class_sets, ClassFit, ClassKind, ClassLogs, ClassSet};
pub use dependence::{Dependence, DependentFields};
pub use evidence::{EachPattern, Evidence, Family, Helpers, KnownPairs, PatternLogs, StepSize};
pub use expected::Step;
pub use learn::{learn, Fit, FitInput};

pub(in crate::model) use dependence::{JointLevels, OF_RANDOM_PAIRS};
pub(in crate::model) use shares::{cap_unlike, make_monotone};

use super::values::{EQUAL, LEVELS, ORDERED, PRESENT, UNLIKE};

/// One number for each level of a field.
pub type Shares = [f64; LEVELS];

/// A typical match: how often the levels of present values occur in it, those of equality as one sum.
const TYPICAL_EQUAL: f64 = 0.65;
const TYPICAL_UNEQUAL: [f64; PRESENT - EQUAL] = [0.12, 0.08, 0.05, 0.03, 0.02, 0.05, 0.005];

/// The match class is fitted as if so many typical pairs were there besides.
const PRIOR_PAIRS: f64 = 30.0;

/// In a household so many of the present values are equal where they are not personal.
const HOUSEHOLD_EQUAL: f64 = 0.9;

/// The class of families is fitted as if so many pairs of a household were there besides, and, in what is personal, so
/// many random pairs.
const HOUSEHOLD_PAIRS: f64 = 200.0;
const RELATIVES_PAIRS: f64 = 30.0;

/// A personal field of the matches is learned from those that agree in all other personal fields, if there are so many.
const LEAST_AGREEING: f64 = 100.0;

/// At most this share of the present values of a field may be unlike in the match class.
const MOST_UNLIKE: f64 = 0.25;

/// In the first rounds the match class is the typical one, so that the other classes settle first.
const ANCHOR_ROUNDS: usize = 60;

/// The fit stops here without having converged.
const MOST_ROUNDS: usize = 1000;

/// The fit has converged when the likelihood grows by less than this share of it.
const CONVERGED: f64 = 1e-7;

/// Passes of fit and cleaning of what is known of random pairs.
const PASSES: usize = 3;

/// Cleaning leaves this share of what random pairs have.
const LEAST_CLEAN: f64 = 0.1;

/// A class of fewer pairs than this share of the records is dropped, and one of households below the other one.
const LEAST_CLASS: f64 = 0.01;
const LEAST_HOUSEHOLDS: f64 = 0.001;

/// A second class of the same fields begins at this distance from the first one, on the way to random pairs.
const TOWARDS_RANDOM: f64 = 0.8;

const _: () = assert!(UNLIKE < ORDERED - EQUAL);
