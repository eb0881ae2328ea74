//! SQL functions, one file a family.

mod contact;
mod counting;
mod date;
mod minhash;
mod names;
mod normal_form;
mod order;
mod own_abbreviations;
pub mod planned_shape;
mod profile;
mod rates;
mod signature;
mod similarity;
mod tokens;
