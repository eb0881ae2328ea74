//! The types `bloom`, `bloom_query`, `counting_bloom` and those of sketches as SQL values: input and output, casts,
//! modifiers, and views for the core.

mod array;
mod bloom;
mod cast;
mod counting;
mod full;
mod io;
pub mod objects;
mod query;
pub mod settings;
mod sketch;
mod text_array;
mod tokens;
mod typmod;
mod value;

pub use array::{float8_array, ngram_array, Elements};
pub use bloom::{Bloom, NewBloom};
pub use counting::{Counting, NewCounting};
pub use full::warn_of_full;
pub use query::{BloomQuery, NewQuery};
pub use sketch::{
    AnySketch, Minhash, MinhashBits, MinhashQuery, NewMinhash, NewMinhashBits, NewMinhashQuery,
};
pub use text_array::TextArray;
pub use tokens::Tokens;
pub use value::corrupt;
