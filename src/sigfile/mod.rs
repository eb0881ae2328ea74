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

pub use class::operators;
pub use class::options::define;
pub use handler::{is_estimated_by_sigfile, is_sigfile};

// what jobs over a whole table read
pub use meta::{Entry, Meta, Part};
pub use page::{Index, Kind as PageKind, PAGE_WORDS};
pub use read::cache::segment;
pub use read::{check_places, Loaded, Reader};
pub use sort::{merge, Collected, Run, Sorting};
