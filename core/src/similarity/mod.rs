//! Comparing signatures: word-parallel counting, the measures, thresholds and weighted profiles.

mod fold;
mod kernel;
mod measures;
mod profile;
mod scan;
mod threshold;

pub(crate) use fold::{fold, Fold, FoldFilter};
pub(crate) use kernel::intersect_words;
pub use kernel::{count_bits, intersect_bits, kernels, Kernel};
pub use measures::Counts;
pub use profile::{profile, Weights};
pub(crate) use scan::scan_rows;
pub use scan::PackedSignatures;
pub use threshold::least_common;
