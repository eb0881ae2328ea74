//! SQL functions, one file a family.

mod compare;
mod contact;
mod counting;
mod date;
mod estimate;
mod measure;
mod membership;
mod minhash;
mod ngram;
mod normalize;
mod plan;
mod planned_shape;
mod profile;
mod signature;
mod superimpose;
mod threshold;
mod tokens;
