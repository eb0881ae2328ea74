//! The types `bloom` and `bloom_query` as SQL values: input and output, casts, modifiers, and views for the core.

mod array;
mod bloom;
mod cast;
mod io;
mod query;
mod typmod;

// Until the other rooms take them from the floor.
#[allow(unused_imports)]
pub use crate::pg::check_for_interrupts as tick;
#[allow(unused_imports)]
pub use crate::pg::values::text::{readable, to_database, Text};
#[allow(unused_imports)]
pub use crate::pg::values::varlena::{build, is_plain, NewValue, Varlena};
pub use array::{float8_array, ngram_array, Elements};
pub use bloom::{corrupt, Bloom, NewBloom};
pub use query::{BloomQuery, NewQuery};
