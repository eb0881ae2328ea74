//! SQL functions, one file a family. A new one is declared in `sql/bloom_ident.sql`, too, which is written by hand;
//! those over whole tables are in the rooms of their subjects. CONTRIBUTING names each file that a new one touches.

mod contact;
mod counting;
mod date;
pub mod default_shape;
mod installed;
mod minhash;
mod normal_form;
mod order;
mod own_abbreviations;
mod rates;
mod rule_sets;
mod signature;
mod similarity;
mod tokens;

pub use own_abbreviations::own_table;
