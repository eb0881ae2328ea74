//! Which record of each cluster is kept, by what the records are like.

mod choice;
mod keyed_relation;
mod standings;

pub use choice::KeepChoice;
pub use keyed_relation::{columns_of, text, KeyedRelation, TableColumn};
pub use standings::{value, Standings};
