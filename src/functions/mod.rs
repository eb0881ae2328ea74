//! SQL functions, one file a family.

mod compare;
mod contact;
mod counting;
mod date;
mod estimate;
mod identity;
mod measure;
mod membership;
mod minhash;
mod names;
mod ngram;
mod normalize;
mod plan;
pub mod planned_shape;
mod profile;
mod rates;
mod signature;
mod superimpose;
mod threshold;
mod tokens;
