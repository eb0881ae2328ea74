//! The types `minhash`, `minhash_bits` and `minhash_query`: input and output, modifiers, and views for the core.

mod io;
mod query;
mod typmod;
mod values;

pub use query::{MinhashQuery, NewMinhashQuery};
pub use values::{AnySketch, Minhash, MinhashBits, NewMinhash, NewMinhashBits};
