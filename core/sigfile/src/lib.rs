//! What the index access method `sigfile` computes, over pages that its caller reads and writes.
//!
//! A *segment* holds rows sorted by popcount ([`rows`]), or by key and popcount where rows have keys ([`keys`]), and
//! for each *chunk* of the bits ([`chunk`]) the rows by the value of that chunk ([`posting`]). A search with a
//! threshold knows in how many bits a row can differ at most ([`query`]); by the pigeonhole principle a row that
//! differs in so few agrees nearly with the query in some chunk ([`budget`]), so that few lists are read and few rows
//! are looked at ([`search`]). What that would not spare is scanned.
//!
//! Pages are slices of 64-bit words, the content between page header and special area. What is on them is input:
//! storage can have changed it. Nothing is sized or indexed by a number from a page before it was held against what the
//! shape and the segment's description allow; what cannot be is an error of kind `Corrupted`.

#![warn(missing_docs)]

pub mod budget;
pub mod check;
pub mod chunk;
pub mod costs;
pub mod gist;
pub mod join;
pub mod keys;
pub mod many;
pub mod merge_policy;
pub mod merging;
pub mod meta;
pub mod posting;
pub mod query;
pub mod rows;
pub mod search;
pub mod segment;
pub mod selectivity;
pub mod shape;
pub mod words;
pub mod write;

pub use merging::SegmentMerge;
pub use meta::{Meta, Part, SegmentEntry};

pub use query::Query;
pub use rows::{Geometry, RowPage, RowPageMut, SignatureRow};
pub use segment::{Pages, RowPages, Segment};
pub use shape::{RowBits, RowShape};
