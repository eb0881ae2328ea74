//! Near-duplicates are kept out as they come, or reported: the trigger function `bloom_guard`, and what belongs to it.
//!
//! A guard has three parts:
//! - [`compare`]: who is compared with whom, by signatures, tokens, the columns of `within` and what people have
//!   decided.
//! - [`candidates`]: where similar rows come from: indexes or the table, for one row or for many, with a dirty
//!   snapshot; how two sessions at once wait for each other is in [`pg::waiting`].
//! - [`actions`]: what is done about a row: refused, warned of, left out, or written down, and with whose rights.
//!
//! The trigger puts them together:
//! - [`options`]: its arguments. [`tables`]: tables, partitions, columns and primary keys.
//! - [`prepared`]: all that it needs to know before it can check a row. [`trigger`]: which version of which row is
//!   checked. [`partition_moves`]: rows on their way between partitions.
//! - [`create`]: `bloom_guard_create`, and [`distributed`] what it asks of tables of Citus. [`blocklist`]: `bloom_blocklist`. [`seek`]: `bloom_guard_search`, the search alone.

mod actions;
mod blocklist;
mod candidates;
mod compare;
mod create;
mod distributed;
mod options;
mod partition_moves;
mod prepared;
mod seek;
mod tables;
mod trigger;
