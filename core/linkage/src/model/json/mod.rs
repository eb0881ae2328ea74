//! A model as JSON, in which it is stored, and records as JSON.
//!
//! [`write_model`] and [`read_model`] keep every number bit for bit. What is read may have been made by hand or by an
//! enemy: everything is checked, and never takes more memory than some times its length. Members that are unknown are
//! ignored, since a later release may have added them.

mod place;
mod read;
mod things;
mod tree;
mod write;

pub use read::{read_any_model, read_model};
pub use things::write as write_things;
pub use write::write_model;

use super::things::ThingsModel;
use super::MatchModel;

/// A model of either form.
#[derive(Clone, Debug)]
pub enum AnyModel {
    /// It says of each pair by itself what it is.
    OfPairs(MatchModel),
    /// Pairs compete.
    OfThings(ThingsModel),
}

/// The version of the form, its member `bloom_ident_model`.
const FORMAT: u64 = 1;
/// That of models whose pairs compete, the newest one.
pub const THINGS_FORMAT: u64 = 2;

/// Most frequent values of a field.
const MOST_FREQUENT: usize = 100_000;

/// Most classes besides that of the matches.
const MOST_CLASSES: usize = 64;

/// Most records of a block: their numbers are in memory.
const MOST_OF_BLOCK: u32 = 100_000;

/// Most columns that are no fields: a table has 1600, and a view over it no more.
const MOST_COLUMNS: usize = 10_000;

/// Most warnings: some for each field, and some for the whole.
const MOST_WARNINGS: usize = 1000;

/// What to do about a model that is no model.
const HINT: &str = "Make the model with bloom_model_fit(), and store it unchanged.";

#[cfg(test)]
mod tests;
