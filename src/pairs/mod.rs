//! All pairs of similar records, in one relation or between two; and the records of a relation that are nearest to a
//! name.

pub mod decisions;
pub mod dictionary;
mod estimate;
mod find;
mod from_index;
mod from_query;
mod jobs;
mod join;
pub mod keys;
mod nearest_names;
pub mod one_to_one;
pub mod only_new;
mod output;
mod profiles;
pub mod random;
pub mod records;
pub mod source_columns;
mod table;
pub mod unique;
pub mod verify;
mod within;

pub use find::each_pair;
