//! What the index access method `sigfile` computes, over pages that its caller reads and writes.
//!
//! A *segment* holds rows sorted by popcount ([`rows`]), and for each *chunk* of the bits
//! ([`chunk`]) the rows by the value of that chunk ([`posting`]). A search with a threshold knows in
//! how many bits a row can differ at most ([`query`]); by the pigeonhole principle a row that differs
//! in so few agrees nearly with the query in some chunk ([`budget`]), so that few lists are read
//! and few rows are looked at ([`search`]). What that would not spare is scanned.
//!
//! Pages are slices of 64-bit words, the content between page header and special area. What is on them is input:
//! storage can have changed it. Nothing is sized or indexed by a number from a page before it was held against what the shape
//! and the segment's description allow; what cannot be is an error of kind `Corrupted`.

pub mod budget;
mod bytes;
pub mod check;
pub mod chunk;
pub mod join;
pub mod posting;
pub mod query;
pub mod rows;
pub mod search;
pub mod segment;
pub mod tiers;
pub mod write;

pub use query::Query;
pub use rows::{Geometry, RowPage, RowPageMut, SignatureRow};
pub use segment::Segment;

use crate::Result;

/// Pages of one segment, by number: its row pages come first, its posting pages behind them.
pub trait Pages {
    /// The page's content, until the next call: as many words as the geometry says.
    ///
    /// Errors: a page that is not one of the segment.
    fn page(&mut self, number: u32) -> Result<&[u64]>;

    /// The page will soon be asked for, and what is near these words of it: pages of a large segment are in no
    /// processor's cache, and several can be on their way at once.
    fn prefetch(&mut self, _number: u32, _words: &[usize]) {}

    /// A turn for the caller, at every step that may take more than some microseconds. No page is needed until the next call.
    fn tick(&mut self) {}

    /// No page is needed until the next call.
    fn release(&mut self) {}
}
