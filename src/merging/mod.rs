//! Records of a cluster become one: what would be done (`bloom_merge_plan`), doing it (`bloom_merge`), and taking it
//! back (`bloom_unmerge`).
//!
//! All of it is SQL that runs as the caller, over rows that are kept in stores of the server: `subject` (the table),
//! `references` (what points to its records), `members` (which record of each cluster is kept), `values` (what it has
//! afterwards), `collisions` (rows that could not be redirected), `audit` (what was done), `texts` (how it is written
//! and read).

mod audit;
mod changes;
mod child;
mod collisions;
mod members;
mod merge;
mod named;
mod plan;
mod references;
mod row_table;
mod subject;
mod texts;
mod undo;
mod values;
