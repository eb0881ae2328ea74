//! Strings of bits: counting those that are set, those that two have in common, and those in which two differ.

mod fold;
mod kernel;
mod scan;

pub(crate) use fold::{fold, Fold, FoldFilter};
pub(crate) use kernel::intersect_words;
pub use kernel::{count_bits, intersect_bits, kernels, Kernel};
pub(crate) use scan::scan_rows;
pub use scan::PackedSignatures;
