//! The index access method `sigfile`: exact similarity search over signatures.
//!
//! ARCHITECTURE.md explains the structure; what is computed is in the core.

mod class;
mod handler;
mod inspect;
mod meta;
mod page;
mod read;
mod scan;
mod sort;
mod write;

pub use class::options::define;
pub use class::{operators, queried_signature, signature_column};
pub use handler::{is_estimated_by_sigfile, is_sigfile};

// what jobs over a whole table read
pub use meta::{Meta, Part, SegmentEntry};
pub use page::{PageKind, SigfileIndex, PAGE_WORDS};
pub use read::cache::segment;
pub use read::{check_places, SegmentDescription, SegmentReader};
pub use sort::{merge, ExternalSort, RowRun, RowsInMemory};
