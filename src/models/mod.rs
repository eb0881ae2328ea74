//! Match models: which pairs are the same person, learned from the data. The core has the arithmetic.
//!
//! - `fields`, `guess`: which columns are compared, and how;
//! - `read`, `store`, `identities`: the records, in temporary files and in memory;
//! - `equality`, `scan`, `candidates`: pairs that are worth a look;
//! - `fit`, `pairs`: the functions;
//! - `describe`, `explain`: what a model says, in words.

mod candidates;
mod describe;
mod equality;
mod explain;
mod fields;
mod fit;
mod fit_records;
mod guess;
mod identities;
mod options;
mod pairs;
mod read;
mod scan;
mod store;
