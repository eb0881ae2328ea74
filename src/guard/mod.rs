//! Near-duplicates are kept out as they come, or reported: the trigger function `bloom_guard`, and what belongs to it.

mod blocklist;
mod create;
mod options;
mod prepared;
mod read_rights;
mod review;
mod search;
mod tables;
mod trigger;
