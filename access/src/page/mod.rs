//! Pages of a sigfile index: what is behind the header of each, how buffers are held, and how pages are changed.
//!
//! A page is PageHeaderData, a stamp of 16 bytes, and content in 64-bit words. The stamp: generation of the
//! segment that the page belongs to (u64, 0 where it belongs to none), kind (u16), page layout version (u16), and
//! 0xFF85 (u32). It is not in the special space at the page's end, where it would cost one more cache line.
//!
//! A page that is held is a [`PageGuard`], whose type says how it is locked: everybody may read it, only who has locked
//! it exclusively can change it. A page whose old content does not matter is a [`BlankPage`], which can only be written
//! anew.

pub mod chain;
mod index;
mod lock;

use pgrx::pg_sys;

pub use index::{SigfileIndex, SigfileTable};
pub use lock::{
    glimpse, prefetch, write_initial, BlankPage, ExclusiveLock, PageGuard, PageLock, PageLog,
    SharedLock,
};

/// Words of a page's content.
pub const PAGE_WORDS: usize = (pg_sys::BLCKSZ as usize - CONTENT) / 8;

/// MAXALIGN(SizeOfPageHeaderData), in bytes.
const HEADER: usize = 24;

/// Where the content begins, in bytes.
const CONTENT: usize = HEADER + size_of::<PageStamp>();

/// Version of the layout of all pages.
const LAYOUT: u16 = 1;

/// What the stamp of each page ends with.
const SIGNATURE: u32 = 0xFF85;

/// Block of the metapage. No page of another kind has this number, so it also stands for the end of a chain of pages.
pub const META: u32 = sigfile::meta::BLOCK;

/// What is said about a page between its header and its content.
#[repr(C)]
#[derive(Clone, Copy)]
struct PageStamp {
    generation: u64,
    kind: u16,
    layout: u16,
    signature: u32,
}

// What is in the files of an index depends on these.
const _: () = {
    assert!(
        cfg!(target_endian = "little"),
        "numbers on pages are written as the machine has them, and documented as little-endian"
    );
    assert!(
        pg_sys::BLCKSZ == 8192,
        "the layout of pages is documented and tested for blocks of 8 kB"
    );
    assert!(pg_sys::MAXIMUM_ALIGNOF == 8);
    assert!(std::mem::offset_of!(pg_sys::PageHeaderData, pd_linp) == HEADER);
    assert!(size_of::<PageStamp>() == 16 && align_of::<PageStamp>() == 8);
    assert!(std::mem::offset_of!(PageStamp, kind) == 8);
    assert!(std::mem::offset_of!(PageStamp, layout) == 10);
    assert!(std::mem::offset_of!(PageStamp, signature) == 12);
    assert!(CONTENT == 40 && PAGE_WORDS == 1019);
};

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum PageKind {
    Meta = 1,
    /// Rows in the order of their arrival. Its generation is its own: an insert that has read an old metapage can tell
    /// a page that was sealed from one that is of a tail again, perhaps of that of the other part.
    Tail = 2,
    /// Rows of a segment, by popcount.
    Rows = 3,
    Postings = 4,
    /// Description of a segment.
    Map = 5,
    /// Numbers of blocks to be used again.
    Free = 6,
    /// The merges in progress.
    Merges = 7,
    /// Pages of a segment that is being written.
    Work = 8,
}

impl PageKind {
    /// All of them.
    pub const ALL: [PageKind; 8] = [
        PageKind::Meta,
        PageKind::Tail,
        PageKind::Rows,
        PageKind::Postings,
        PageKind::Map,
        PageKind::Free,
        PageKind::Merges,
        PageKind::Work,
    ];

    /// The kind of a segment's page of this number. Row pages come first; there are `row_pages` of them.
    #[inline]
    pub fn of_segment_page(number: u32, row_pages: u32) -> PageKind {
        if number < row_pages {
            PageKind::Rows
        } else {
            PageKind::Postings
        }
    }
}
