//! Near-duplicates are kept out as they come, or reported: the trigger function `bloom_guard`, and what belongs to it.
//!
//! From bottom to top; each part uses those before it:
//! - [`options`]: the arguments of the trigger.
//! - [`tables`]: the tables that are searched, with their partitions, signature columns, primary keys and indexes.
//! - [`review`]: the table that action `flag` writes pairs to, and with whose rights it does so.
//! - [`decisions`]: what people have decided about pairs, which a guard keeps to, and writes for who says so.
//! - [`prepared`]: all that a trigger needs to know before it can check a row.
//! - [`search`]: finding similar rows, also those that are not committed, and waiting for other transactions.
//! - [`ahead`]: the same for many rows of a statement at once.
//! - [`read_rights`]: whose rows may be searched, and who may be told of what was found.
//! - [`trigger`]: the trigger function: which version of which row is checked, and what follows.
//! - [`full_rows`]: what is told of full signatures when a guard is created.
//! - [`create`]: `bloom_guard_create`. [`blocklist`]: `bloom_blocklist`.

mod ahead;
mod blocklist;
mod create;
mod decisions;
mod full_rows;
mod options;
mod prepared;
mod read_rights;
mod review;
mod search;
mod tables;
mod trigger;
