//! SQL functions of tokens: texts, JSON values and sequences become tokens, and tokens become signatures.

mod json;
mod runs;
mod signature;
mod similarity;
mod text;
