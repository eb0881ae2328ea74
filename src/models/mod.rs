//! Match models: which pairs are the same person, learned from the data. The core has the arithmetic.
//!
//! - `fields`, `guess`: which columns are compared, and how;
//! - `read`, `store`, `identities`: the records, in temporary files and in memory;
//! - `equality`, `scan`, `candidates`: pairs that are worth a look;
//! - `fit_records`, `fit_model`, `labels`: the fit;
//! - `fit`, `pairs`, `candidate_report`: the functions.

mod candidate_report;
mod candidates;
mod equality;
mod fields;
mod fit;
mod fit_model;
mod fit_records;
mod guess;
mod identities;
mod labels;
mod options;
mod pairs;
mod read;
mod scan;
mod store;
