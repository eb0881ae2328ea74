//! GiST operator classes `gist_bloom_ops` and `gist_bloom_query_ops`: the bounds are the core's.

mod key;
mod search;
mod shape;
mod sort;
mod tree;
