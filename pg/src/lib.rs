//! The floor under all other rooms: what PostgreSQL offers, as the extension uses it. It imports no other room.
//!
//! - Calls and errors: `boundary` (the server's jumps and Rust's unwinding), `ffi` (C symbols declared by hand),
//!   `interrupts`, `message` (errors and notices with all fields), `error` (the core's errors as the server's)
//! - Functions that SQL calls: `values` (arguments and results), `function` (raw arguments, records, sets of rows)
//! - Tables: `catalog` (names, privileges, storage), `relation` (open ones), `tid`
//! - Queries: `sql` (statements), `session` (running them, rows that they give and use, plans that are kept, and settings
//!   that are others for a while), `output` (text forms of values), `input` (values of texts)
//! - The planner's structures: `tree`
//! - `session_state` (what is kept between calls)
//! - Memory and files: `memory`, `reserve` (for allocations that nobody asks for), `budget`, `file` (memory, then file)
//! - `team` (parallel workers), `progress` (how far jobs are, for others and as notices)

// The attribute names what is here by the name of the crate.
extern crate self as pg;

pub mod boundary;
pub mod budget;
pub mod catalog;
pub mod error;
pub mod ffi;
pub mod file;
pub mod function;
pub mod in_place;
pub mod input;
pub mod interrupts;
pub mod key_table;
pub mod memory;
pub mod message;
pub mod output;
pub mod progress;
pub mod relation;
pub mod reserve;
pub mod row;
pub mod session;
pub mod session_state;
pub mod snapshot;
pub mod sql;
pub mod team;
pub mod tid;
pub mod tree;
pub mod values;
pub mod visibility;
pub mod waiting;

pub use bloom_ident_macros::{entry, sql};
pub use interrupts::{check_for_interrupts, interrupts_are_pending};
