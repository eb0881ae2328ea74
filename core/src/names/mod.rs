//! Names of persons and companies: how similar two of them are.

mod similarity;
mod words;

pub use similarity::{similarity, MAX_WORD, MAX_WORDS};
