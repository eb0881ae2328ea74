//! The index access method `sigfile`: exact similarity search over signatures, by multi-index hashing (Norouzi,
//! Punjani, Fleet 2012) with the general pigeonhole principle (Qin et al., GPH, 2018), over segments that are merged as
//! in a log-structured merge tree (O'Neil et al. 1996).
//!
//! ARCHITECTURE.md explains the structure; what is computed is in the core. The floors, from below: `page` (how pages
//! are held and changed), `class` (operators and options), `meta` (reading and changing the metapage), `read`
//! (segments, tails, free lists), `sort` (the external sort), `write` (build, insert, merge, VACUUM), `scan` (searches,
//! and what they cost), `inspect` (functions for the DBA) and `stale` (indexes in other formats). What other rooms use is named here, and nothing else of
//! it.

mod class;
mod gist;
mod handler;
mod inspect;
mod meta;
mod page;
mod read;
mod scan;
mod sort;
mod stale;
mod write;

// The planner and the guard ask which indexes are ours, and what they are on.
pub use class::options::define;
pub use class::{
    mismatch, operators, queried_signature, signature_column, RowSignature, SignatureType,
};
pub use handler::{is_estimated_by_sigfile, is_sigfile};
pub use scan::cost::{comparison, index_quals};
pub use scan::rows_alike;

// Jobs that search for many records.
pub use scan::{IndexScan, RowConditions};

// Jobs over whole tables read an index as it is: its metapage, its segments by the segment reader, its tails by the
// walk over tail pages.
pub use meta::{of_words as meta_of_words, read_for as read_meta_for};
pub use page::{SigfileIndex, PAGE_WORDS};
pub use read::segment;
pub use read::{check_tids, SegmentDescription, SegmentReader, TailBlocks};

// The guard remembers what it has found until this session adds a row.
pub use write::insert::insertions;

// They sort rows as an index does.
pub use sort::{PackedRows, RowSort, SortedRows};
