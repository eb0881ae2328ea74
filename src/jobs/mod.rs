//! Jobs over whole tables.

mod arguments;
mod duplicates;
mod file;
mod join;
mod keys;
mod parallel;
mod pieces;
mod profiles;
mod progress;
mod relation;
mod rows;
mod sorted;
mod stream;
