//! Counting filters: Bloom filters with counters instead of bits, so that what was added can be removed again.
//!
//! A counting filter has the shape of a signature, and a counter of four bits where that has a bit. A text adds 1 to
//! the counters of each of its distinct n-grams, and a set of tokens to those of each of its tokens (L. Fan, P. Cao, J.
//! Almeida, A. Z. Broder: Summary Cache, IEEE/ACM Transactions on Networking 8, 2000). A counter that has reached
//! [`FULL`] stays there: what it has to count is not known any more.

mod builder;
pub mod counters;
mod layout;

pub use crate::version::VERSION;
pub use builder::{holds_text, holds_token, CountingBuilder};
pub use layout::{parse_text, write_text, CountingView, HEADER, TYPE};

/// The most that a counter holds.
pub const FULL: u8 = 15;
