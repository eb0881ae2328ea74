//! Match models: which pairs are the same person, learned from the data. The core has the arithmetic.
//!
//! - `fields`, `guess`: which columns are compared, and how;
//! - `records`: the records, in temporary files and in memory;
//! - `search`: pairs that are worth a look;
//! - `compounds`, `fit_records`, `fit_model`, `search_plan`, `team`: the fit, the searches that it finds worth while, and its
//!   workers;
//! - `things`: the fit of linkages of things, and the pairs that it finds;
//! - `pair_limit`: how many pairs are compared;
//! - `warnings`: what speaks against a model;
//! - `check`, `sample`: whether a table has moved away from a model, by a sample of its records;
//! - `known`: models that functions of single records are called with;
//! - `fit`, `pairs`, `candidate_report`, `describe`, `single`: the functions.

mod candidate_report;
mod check;
mod compounds;
mod describe;
mod fields;
mod fit;
mod fit_model;
mod fit_records;
pub mod guess;
mod known;
mod missing_columns;
mod options;
mod pair_limit;
mod pairs;
mod population;
mod records;
mod sample;
mod search;
mod search_plan;
mod single;
mod team;
mod things;
mod warnings;

pub use fields::{base_type, columns as field_columns, comparable_columns, is_date, is_fraction};
pub use fit::fit_anew;
pub use guess::Seen;
pub use known::{of_value as known_model_of, ForRecords, KnownModel, SingleRecord};
pub use options::min_probability;
pub use records::read::{field_value, reading_fields};
pub use single::{check_of_one_table, object_of, record};
