//! The types `bloom` and `bloom_query` as SQL values: input and output, casts, modifiers, and views for the core.

mod array;
mod bloom;
mod cast;
mod io;
mod query;
mod text_array;
mod tokens;
mod typmod;

pub use array::{float8_array, ngram_array, Elements};
pub use bloom::{corrupt, Bloom, NewBloom};
pub use query::{BloomQuery, NewQuery};
pub use text_array::TextArray;
pub use tokens::Tokens;
