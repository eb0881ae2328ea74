//! Match models: how much agreement in each field says, learned from the data alone.
//!
//! Every pair of records has a *pattern*: one level of agreement for each field. How many pairs of a pattern are to be
//! expected is the sum over classes of pairs: random ones, matches, and others that agree in some fields without being
//! matches, as families do. The classes are fitted to the counts of patterns by expectation maximisation (I. Fellegi,
//! A. Sunter: A Theory for Record Linkage, 1969; W. Winkler's fit of it without labels, 1988).
//!
//! - [`column_names`]: what columns are by their names;
//! - [`values`]: what a field's value is compared by, and the levels;
//! - [`pattern`]: the levels of a pair, and how many pairs have them;
//! - [`mixture`]: the fit;
//! - [`things`]: the fit of linkages of things;
//! - [`frequent`]: the levels of equal values;
//! - [`json`]: a model as JSON;
//! - [`keys`]: what records have in common that a search brings together;
//! - [`search_recall`]: how many matches the searches miss;
//! - [`ready`]: a model made ready for single records;
//! - [`score`]: what a fitted model says of a pattern;
//! - [`calibration`]: how answers of people correct that;
//! - [`explain`]: why it says so;
//! - [`describe`]: what has been learned, in words;
//! - [`summary`]: the whole model on one page;
//! - [`mod@doubts`]: what speaks against it;
//! - [`drift`]: how far records have moved away from it.

pub mod calibration;
pub mod column_names;
pub mod describe;
pub mod doubts;
pub mod drift;
pub mod explain;
pub mod fitted;
pub mod frequent;
pub mod json;
pub mod keys;
pub mod mixture;
pub mod pattern;
pub mod ready;
pub mod score;
pub mod search_choice;
pub mod search_recall;
mod seen_values;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod things;
pub mod values;

pub use calibration::{Answer, Calibration};
pub use describe::{ClassFacts, LevelFacts};
pub use doubts::doubts;
pub use explain::{Addend, Reason};
pub use fitted::{Class, FieldModel, LeftOut, MatchModel, PlannedSearch, Search, Status};
pub use frequent::FrequentLevels;
pub use pattern::{CountedPatterns, Pattern, PatternBlock};
pub use ready::{ReadyModel, ReadyRecord};
pub use score::{Score, Scorer};

/// Most fields of a model: a pattern has four bits for each.
pub const MOST_FIELDS: usize = 32;

/// Most searches of a model: a pair's searches are the bits of a word.
pub const MOST_SEARCHES: usize = 60;
