//! The planner: `bloom_sim(a, b) > 0.8` becomes an index condition, and its rows are estimated.
//!
//! The comparison is rewritten to a function that holds both signatures and the threshold
//! (`rewrite`); that function's support function offers an operator of the index's class (`index_condition`)
//! and estimates the rows (`selectivity`, from `statistics`, which ANALYZE keeps a sample for). `indexes` has what the
//! planner is told of a table's indexes, and what these say of a search. `edit_distance` gives conditions on edit distances
//! one on signatures. All of them ask the room `objects` which
//! functions and types are the extension's.

mod edit_distance;
mod index_condition;
mod indexes;
mod rewrite;
mod selectivity;
mod statistics;

pub use rewrite::define;
