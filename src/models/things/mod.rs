//! Linkages of things whose pairs compete, of which the core's [`linkage::model::things`] has the arithmetic.
//!
//! - `words`: which records have which words, and what these weigh;
//! - `nearest`: the candidates, which are the records with the nearest words;
//! - `compared`: the candidates' patterns, and their pairs, in memory or in files;
//! - `fit`: a fit;
//! - `link`: the pairs that a model of things finds.
//!
//! What a statement takes is within `maintenance_work_mem`: a quarter for the records, a quarter for the sorts of words,
//! an eighth for a part of the words' records, and so on. Some numbers for each record are in memory all the time.

mod compared;
mod fit;
mod link;
mod nearest;
mod words;

pub use fit::{fit, tell};
pub use link::ThingsLinkage;

use pg::budget::Budget;

/// Bytes for each record: numbers of the search for the nearest, or the sums of those that compete.
const RECORD_BYTES: usize = 24;

/// Errors: what has to be in memory for so many records, and `more` bytes, does not fit into its share of
/// `maintenance_work_mem`.
fn check_room(records: u32, more: usize) {
    let needed = 8 * (records as usize * RECORD_BYTES + more);
    Budget::of_setting().check(needed, || format!("{records} records and their words"));
}
