//! GiST operator classes `gist_bloom_ops`, `gist_bloom_query_ops`, and those of sampled bits, `gist_minhash_bits_ops`
//! and `gist_minhash_query_ops`: the bounds are the core's.

mod search;
mod tree;

pub use tree::format_error;
