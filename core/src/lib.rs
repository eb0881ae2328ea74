//! What bloom_ident computes, without PostgreSQL: identity text is normalised ([`text`]), cut into
//! n-grams ([`ngram`]), folded into a Bloom-filter signature ([`filter`]), and signatures are
//! compared ([`similarity`]). Texts, JSON values and sequences become sets of tokens ([`tokens`]), whose signatures are the same kind of filter, or which get a [`sketch`] instead. Names are taken apart and compared as names ([`names`]). Pairs that are found so are grouped and held against a truth ([`clusters`]), and shown to people who decide ([`review`]).
//!
//! Nothing here knows the server: memory sized by data is reserved with `try_reserve`, errors are
//! values ([`Error`]) that carry message, detail and hint, and long loops call back so that the
//! caller can look for interrupts.

#![warn(missing_docs)]

pub mod assignment;
pub mod bits;
pub mod clusters;
pub mod contact;
pub mod counting;
mod error;
pub mod filter;
pub mod fingerprint;
pub mod gist;
pub mod guard;
pub mod identity;
pub mod merging;
pub mod model;
pub mod names;
pub mod ngram;
pub mod range;
pub mod record_hash;
pub mod review;
pub mod selectivity;
pub mod sigfile;
pub mod similarity;
pub mod sketch;
pub mod sort;
pub mod text;
mod tick;
pub mod tokens;

pub use error::{Error, ErrorKind, Result};
