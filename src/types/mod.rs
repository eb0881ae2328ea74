//! The types `bloom`, `bloom_query` and those of sketches as SQL values: input and output, casts, modifiers, and views for the core.

mod array;
mod bloom;
mod cast;
mod io;
mod query;
mod sketch;
mod typmod;

pub use array::{float8_array, ngram_array, Elements};
pub use bloom::{corrupt, Bloom, NewBloom};
pub use query::{BloomQuery, NewQuery};
pub use sketch::{AnySketch, Minhash, MinhashBits, MinhashQuery, NewMinhash, NewMinhashBits};
