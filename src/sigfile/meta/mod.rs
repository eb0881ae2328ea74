//! The metapage: which segments there are, where new rows are, and which blocks are free.
//!
//! | word | content |
//! |---|---|
//! | 0 | magic (u32), format version (u16), flags (u16): 1 if rows have thresholds |
//! | 1 | identity: a random number, so that what a session remembers of an index is not taken for another's |
//! | 2 | shape of the signatures, as their first eight bytes; 0 as long as there is no row |
//! | 3 | generation of the next segment |
//! | 4 | segments (u32), free lists (u32) |
//! | 5 | tail pages with signatures (u32), without (u32) |
//! | 8 | segments, 4 words each: generation; rows, dead rows (u32); first map block, pages (u32); 1 if its rows have no signature |
//! | 200 | free lists, 2 words each: transaction id from which they are free; first block, blocks in it (u32) |
//! | 264 | blocks of the tail with signatures (u32) |
//! | 891 | blocks of the tail without |
//!
//! A process that holds the merge lock (the heavyweight lock on block 0) may publish segments, and take blocks from the free
//! lists. A process that holds the metapage's buffer locked exclusively may lengthen a tail, and needs no merge lock: that is
//! why a tail page never comes from a free list.

mod layout;

use bloom_ident_core::sigfile::Geometry;
use bloom_ident_core::{Error, ErrorKind};
use pgrx::pg_sys;

use crate::pg::error::OrRaise;
use crate::sigfile::page::{
    ExclusiveLock, PageGuard, PageKind, PageLock, SigfileIndex, META, PAGE_WORDS,
};
use layout::{bits_of, NULLS_AT, NULLS_WORDS, TAIL_AT};
pub use layout::{MAX_FREE, MAX_SEGMENTS};

/// Two kinds of rows, kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Signatures = 0,
    /// NULL instead of a signature.
    Nulls = 1,
}

impl Part {
    /// Both, in the order of their numbers.
    pub const ALL: [Part; 2] = [Part::Signatures, Part::Nulls];

    /// Pages that a tail can have.
    pub fn most_pages(self) -> usize {
        match self {
            Part::Signatures => 2 * (NULLS_AT - TAIL_AT),
            Part::Nulls => 2 * NULLS_WORDS,
        }
    }
}

/// A segment, as the metapage knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentEntry {
    /// The number that the stamps of its pages have.
    pub generation: u64,
    /// Its rows, the dead ones included.
    pub rows: u32,
    pub dead: u32,
    /// First block of its description.
    pub map: u32,
    /// All its pages, map included.
    pub pages: u32,
    pub part: Part,
}

/// Blocks that are free as soon as no snapshot is older than `horizon`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeList {
    /// A full transaction id.
    pub horizon: u64,
    /// First block of the chain that the list is written on.
    pub first: u32,
    /// How many blocks it names.
    pub blocks: u32,
}

/// What a metapage says.
#[derive(Clone, Debug)]
pub struct Meta {
    pub identity: u64,
    /// Rows have thresholds of their own.
    pub thresholds: bool,
    /// The first eight bytes of all signatures, 0 as long as there is no row.
    pub shape: u64,
    pub next_generation: u64,
    pub segments: Vec<SegmentEntry>,
    pub free: Vec<FreeList>,
    /// Blocks of the tails, one list for each [`Part`].
    pub tails: [Vec<u32>; 2],
}

impl Meta {
    /// That of an empty index.
    pub fn new(thresholds: bool) -> Meta {
        let mut identity = [0u8; 8];
        // SAFETY: pointer and length of an array.
        let random =
            unsafe { pg_sys::pg_strong_random(identity.as_mut_ptr().cast(), identity.len()) };
        if !random {
            crate::pg::error::internal!("could not generate a random number");
        }
        Meta {
            identity: u64::from_le_bytes(identity),
            thresholds,
            shape: 0,
            next_generation: 1,
            segments: Vec::new(),
            free: Vec::new(),
            tails: [Vec::new(), Vec::new()],
        }
    }

    /// Whether all of it fits a page.
    ///
    /// Errors: more than a metapage holds; nothing has been written then.
    pub fn check_size(&self) {
        let tails = Part::ALL.map(|part| self.tails[part as usize].len() <= part.most_pages());
        if self.segments.len() > MAX_SEGMENTS || self.free.len() > MAX_FREE || tails != [true; 2] {
            let message = format!(
                "sigfile index cannot hold more than {MAX_SEGMENTS} segments of {} rows",
                bloom_ident_core::sigfile::posting::MAX_ROWS
            );
            crate::pg::error::raise(
                &Error::new(ErrorKind::LimitExceeded, message)
                    .hint("Partition the table, or run VACUUM to have segments merged."),
            );
        }
    }

    /// Reads the metapage.
    ///
    /// Errors: a damaged one.
    pub fn decode<L: PageLock>(page: &PageGuard<'_, L>) -> Meta {
        let index = page.index();
        if !page.is(PageKind::Meta, 0) {
            crate::pg::error::raise(&index.damaged(META, "the page is no metapage"));
        }
        Meta::of_words(index, page.words())
    }

    /// Whether no page of the index has been replaced between this and `later`, which was read afterwards.
    pub fn holds_of(&self, later: &Meta) -> bool {
        let is_there =
            |s: &SegmentEntry| later.segments.iter().any(|l| l.generation == s.generation);
        let mut tails = later.tails.iter().zip(&self.tails);
        self.segments.iter().all(is_there) && tails.all(|(l, t)| l.starts_with(t))
    }

    /// As it is now, for a scan.
    ///
    /// Errors: a damaged metapage; a snapshot that is too old.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan.
    pub unsafe fn read_for(index: SigfileIndex<'_>, snapshot: pg_sys::Snapshot) -> Meta {
        let page = index.share(META);
        // SAFETY: the caller knows that the snapshot is there.
        unsafe { page.test_old_snapshot(snapshot) };
        Meta::decode(&page)
    }

    /// As it is now.
    ///
    /// Errors: a damaged metapage.
    pub fn read(index: SigfileIndex<'_>) -> Meta {
        Meta::decode(&index.share(META))
    }

    /// How rows of a part lie on pages.
    pub fn geometry(&self, part: Part) -> Geometry {
        match part {
            Part::Signatures => {
                Geometry::new(PAGE_WORDS, bits_of(self.shape), self.thresholds).or_raise()
            }
            Part::Nulls => Geometry::new(PAGE_WORDS, 1, false).or_raise(),
        }
    }

    /// The segments of a part.
    pub fn segments_of(&self, part: Part) -> impl Iterator<Item = &SegmentEntry> {
        self.segments.iter().filter(move |s| s.part == part)
    }

    /// The blocks of the tail of a part.
    pub fn tail(&self, part: Part) -> &[u32] {
        &self.tails[part as usize]
    }

    /// Changes the metapage.
    ///
    /// Errors: more than it holds.
    pub fn store(&self, page: &mut PageGuard<'_, ExclusiveLock>) {
        self.check_size();
        page.change(|words| self.encode(words));
    }
}
