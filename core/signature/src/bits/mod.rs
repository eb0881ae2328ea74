//! Strings of bits: counting those that are set, those that two have in common, and those in which two differ.

#[cfg(target_arch = "aarch64")]
mod arm;
mod chunk_probe;
mod columns;
mod fold;
mod kernel;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use chunk_probe::{
    ChunkColumn, ChunkProbe, ChunkTable, ProbeSpace, MOST_FLIPS, MOST_IN_TABLE, ROWS_AT_ONCE,
};
pub use columns::{FoldColumns, FoldWidth};
pub use fold::{fold, fold_into, keep_counted, Fold, FoldFilter};
pub use kernel::{intersect_bits, intersect_words, kernels, popcount, scan, Kernel, PackedScan};
pub use words::{differing_bits, to_bytes, to_words};
