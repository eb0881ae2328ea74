//! What is done with duplicates: kept out as they come, or found in whole tables.

mod arguments;
mod duplicates;
mod file;
mod guard;
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
