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

use base::range::counted;
use pg::budget::Budget;

/// Bytes for each record: numbers of the search for the nearest, or the sums of those that compete.
const RECORD_BYTES: usize = 24;

/// Bytes for each word that is looked up: what it weighs, and where its records begin.
const WORD_BYTES: usize = 12;

/// How much of `maintenance_work_mem` so many records and words need, which have to be in memory.
fn needed(records: u32, words: usize) -> usize {
    8 * (records as usize * RECORD_BYTES + words * WORD_BYTES)
}

/// Errors: they do not fit into their share of `maintenance_work_mem`.
fn check_room(records: u32, words: usize) {
    let describe = || {
        let records = counted(records.into(), "record", "records");
        match words {
            0 => records,
            _ => format!("{records} with {words} different words"),
        }
    };
    let needed = needed(records, words);
    Budget::of_setting().check_all(needed, "records and their words", describe);
}
