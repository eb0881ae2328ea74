//! Pages of a sigfile index: what is behind the header of each, and how buffers are held.
//!
//! A page is PageHeaderData, a stamp of 16 bytes, and content in 64-bit words. The stamp: generation of the
//! segment that the page belongs to (u64, 0 where it is none's), kind (u16), page layout version (u16), and
//! 0xFF85 (u32). It is not in the special space at the page's end, where it would cost a cache line more.

mod damage;
mod guard;
mod index;
mod prefetch;
mod write;

use pgrx::pg_sys;

pub use guard::Buffer;
pub use index::SigfileIndex;
pub use prefetch::prefetch;
pub use write::{change, change_and_start, write, write_initial, PageLog};

/// Words of a page's content.
pub const PAGE_WORDS: usize = (pg_sys::BLCKSZ as usize - CONTENT) / 8;

/// MAXALIGN(SizeOfPageHeaderData).
pub const HEADER: usize = 24;

pub const CONTENT: usize = HEADER + size_of::<PageStamp>();

pub const LAYOUT: u16 = 1;

pub const SIGNATURE: u32 = 0xFF85;

/// Block of the metapage.
pub const META: u32 = 0;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PageStamp {
    pub generation: u64,
    pub kind: u16,
    pub layout: u16,
    pub signature: u32,
}

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum PageKind {
    Meta = 1,
    /// Rows in the order of their arrival.
    Tail = 2,
    /// Rows of a segment, by bit count.
    Rows = 3,
    Postings = 4,
    /// Description of a segment.
    Map = 5,
    /// Numbers of blocks to be used again.
    Free = 6,
}
