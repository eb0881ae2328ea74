//! The types `bloom`, `bloom_query`, `counting_bloom` and those of sketches as SQL values: input and output, casts,
//! modifiers, and views for the core.

mod array;
mod bloom;
mod counting;
pub mod objects;
pub mod settings;
mod sketch;
mod value;

pub use array::{fixed_array, ngram_array, Elements, TextArray, Tokens};
pub use bloom::{warn_of_full, Bloom, BloomQuery, NewBloom, NewQuery};
pub use counting::{Counting, NewCounting};
pub use sketch::{
    AnySketch, Minhash, MinhashBits, MinhashQuery, NewMinhash, NewMinhashBits, NewMinhashQuery,
};
pub use value::corrupt;
