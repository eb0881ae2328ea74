//! Keyed signatures of records (cryptographic long-term keys, CLKs) by the rules of clkhash, byte for byte: a linkage
//! schema of version 1 to 3 ([`Schema`]) says how values are checked, taken apart into tokens and hashed, a secret has the
//! keys of each feature ([`Encoder`]), and the bits of all features are united and folded. Beside them there is an own family,
//! of signatures as unkeyed ones are, with a key.
//!
//! What a schema asks for and this does not have is an error with its name: nothing is done almost as asked. Source of the
//! rules: clkhash 0.18.3 (modules schema, field_formats, comparators, key_derivation, bloomfilter), read and compared by
//! `tests/clkhash.rs`.

#![warn(missing_docs)]

mod bits;
mod compare;
mod encoder;
mod format;
mod harden;
mod hash;
mod json;
mod keys;
mod own;
mod pattern;
mod schema;
mod strptime;

pub use bits::{from_base64, to_base64, to_base64_bytes};
pub use encoder::{check_value, flipped_id, Encoder};
pub use harden::Hardening;
pub use json::read as read_json;
pub use schema::{Schema, MOST_BITS};

/// The version of clkhash whose signatures these are, bit for bit.
pub const CLKHASH: &str = "0.18.3";
