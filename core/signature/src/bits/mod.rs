//! Strings of bits: counting those that are set, those that two have in common, and those in which two differ.

mod chunk_probe;
mod differ;
mod fold;
mod kernel;
mod portable;
mod scan;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use chunk_probe::{
    ChunkColumn, ChunkProbe, ChunkTable, ProbeSpace, MOST_FLIPS, MOST_IN_TABLE, ROWS_AT_ONCE,
};
pub use differ::differing_bits;
pub use fold::{fold, keep_counted, Fold, FoldFilter};
pub use kernel::{intersect_bits, intersect_words, kernels, popcount, scan, Kernel};
pub use scan::PackedScan;
pub use words::{to_bytes, to_words};
