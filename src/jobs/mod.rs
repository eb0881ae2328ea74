//! What is done with duplicates: kept out as they come, or found in whole tables.

mod arguments;
mod budget;
mod catalog;
mod clusters;
mod cursor;
mod duplicates;
mod file;
mod guard;
mod join;
mod keys;
mod numbers;
mod pairs;
mod parallel;
mod pieces;
mod profiles;
mod progress;
mod quality;
mod relation;
mod report;
mod rows;
mod side;
mod sorted;
mod source;
mod stream;
mod sweep;
