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
//! Whoever holds the page lock on block 0 (a heavyweight lock) may publish segments; whoever holds
//! the buffer lock for writing may lengthen a tail.

use std::cell::Cell;

use bloom_ident_core::filter::Shape;
use bloom_ident_core::sigfile::posting::MAX_ROWS;
use bloom_ident_core::sigfile::Geometry;
use bloom_ident_core::{Error, ErrorKind};
use pgrx::pg_sys;

use super::page::{self, Buffer, Index, Kind as PageKind, META, PAGE_WORDS};
use crate::pg::error::OrRaise;

const MAGIC: u32 = 0x4653_4942;
const VERSION: u16 = 1;

const SEGMENTS_AT: usize = 8;
pub const MAX_SEGMENTS: usize = 48;
const FREE_AT: usize = SEGMENTS_AT + 4 * MAX_SEGMENTS;
pub const MAX_FREE: usize = 32;
const TAIL_AT: usize = FREE_AT + 2 * MAX_FREE;
const MISSING_WORDS: usize = 128;
const MISSING_AT: usize = PAGE_WORDS - MISSING_WORDS;

/// Two kinds of rows, kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Signatures = 0,
    /// NULL instead of a signature.
    Missing = 1,
}

impl Part {
    pub const ALL: [Part; 2] = [Part::Signatures, Part::Missing];

    /// Pages that a tail can have.
    pub fn most_pages(self) -> usize {
        match self {
            Part::Signatures => 2 * (MISSING_AT - TAIL_AT),
            Part::Missing => 2 * MISSING_WORDS,
        }
    }
}

/// A segment, as the metapage knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub generation: u64,
    pub rows: u32,
    pub dead: u32,
    pub map: u32,
    /// All its pages, map included.
    pub pages: u32,
    pub part: Part,
}

/// Blocks that are free as soon as no snapshot is older than `horizon`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeList {
    pub horizon: u64,
    pub first: u32,
    pub blocks: u32,
}

#[derive(Clone, Debug)]
pub struct Meta {
    pub identity: u64,
    pub thresholds: bool,
    /// 0 as long as there is no row.
    pub shape: u64,
    pub next_generation: u64,
    pub segments: Vec<Entry>,
    pub free: Vec<FreeList>,
    pub tails: [Vec<u32>; 2],
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn parts(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

fn read_blocks(words: &[u64], n: usize) -> Vec<u32> {
    let pairs = words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]);
    pairs.take(n).collect()
}

fn write_blocks(blocks: &[u32], words: &mut [u64]) {
    for (word, two) in words.iter_mut().zip(blocks.chunks(2)) {
        *word = pair(two[0], two.get(1).copied().unwrap_or(0));
    }
}

/// Bits of a signature, by its shape.
fn bits_of(shape: u64) -> u32 {
    let [_, k, p0, p1, ..] = shape.to_le_bytes();
    u32::from(k) * u32::from(u16::from_le_bytes([p0, p1]))
}

/// Whether a shape is one that signatures can have, and that fits a page.
fn is_possible(shape: u64, thresholds: bool) -> bool {
    thread_local! {
        /// The last one that was: finding out takes longer than reading the metapage.
        static KNOWN: Cell<(u64, bool)> = const { Cell::new((0, false)) };
    }
    if shape == 0 || KNOWN.get() == (shape, thresholds) {
        return true;
    }
    let is = Shape::of_tag(shape);
    let made = Shape::new(is.k().into(), is.p().into(), is.ngram().into())
        .and_then(|s| s.with_variant(is.rules().into(), is.family().into(), is.key().into()));
    let fits = Geometry::new(PAGE_WORDS, bits_of(shape), thresholds).is_ok();
    let version = shape.to_le_bytes()[0] == bloom_ident_core::filter::VERSION;
    let possible = made.is_ok() && fits && version;
    if possible {
        KNOWN.set((shape, thresholds));
    }
    possible
}

impl Meta {
    pub fn new(thresholds: bool) -> Meta {
        let mut identity = [0u8; 8];
        // SAFETY: eight bytes to write.
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

    /// Writes what [`Meta::check_size`] has found to fit.
    pub fn encode(&self, words: &mut [u64]) {
        words[0] = u64::from(MAGIC) | u64::from(VERSION) << 32 | u64::from(self.thresholds) << 48;
        words[1] = self.identity;
        words[2] = self.shape;
        words[3] = self.next_generation;
        words[4] = pair(self.segments.len() as u32, self.free.len() as u32);
        words[5] = pair(self.tails[0].len() as u32, self.tails[1].len() as u32);
        words[6..].fill(0);
        let segments = words[SEGMENTS_AT..FREE_AT].chunks_exact_mut(4);
        for (to, s) in segments.zip(&self.segments) {
            to[0] = s.generation;
            to[1] = pair(s.rows, s.dead);
            to[2] = pair(s.map, s.pages);
            to[3] = s.part as u64;
        }
        let lists = words[FREE_AT..TAIL_AT].chunks_exact_mut(2);
        for (to, list) in lists.zip(&self.free) {
            to[0] = list.horizon;
            to[1] = pair(list.first, list.blocks);
        }
        write_blocks(&self.tails[0], &mut words[TAIL_AT..MISSING_AT]);
        write_blocks(&self.tails[1], &mut words[MISSING_AT..]);
    }

    /// Reads the metapage behind `buffer`, which is locked.
    pub fn decode(index: Index, buffer: &Buffer) -> Meta {
        if !buffer.is(PageKind::Meta, 0) {
            crate::pg::error::raise(&index.damaged(META, "the page is no metapage"));
        }
        Meta::of_words(index, buffer.words())
    }

    /// What of it is impossible. Blocks are looked at where they are read.
    fn wrong(&self) -> Option<&'static str> {
        let mut last = 0;
        for s in &self.segments {
            if s.generation <= last || s.generation >= self.next_generation {
                return Some("a segment has an impossible generation");
            }
            last = s.generation;
            if s.rows == 0 || s.rows > MAX_ROWS || s.dead > s.rows || s.map == META || s.pages < 2 {
                return Some("a segment has impossible numbers");
            }
        }
        let signatures = Part::Signatures;
        let shapeless = self.shape == 0
            && (!self.tails[signatures as usize].is_empty()
                || self.segments.iter().any(|s| s.part == signatures));
        if shapeless || !is_possible(self.shape, self.thresholds) {
            return Some("the shape of the signatures is impossible");
        }
        if self
            .free
            .iter()
            .any(|list| list.first == META || list.blocks == 0)
        {
            return Some("a list of free blocks is impossible");
        }
        if self.tails.iter().flatten().any(|&block| block == META) {
            return Some("a block of new rows is impossible");
        }
        None
    }

    /// Reads what [`Meta::encode`] has written for the same index.
    pub fn of_words(index: Index, words: &[u64]) -> Meta {
        let (segments, free) = parts(words[4]);
        let (tail, missing) = parts(words[5]);
        let (segments, free) = (segments as usize, free as usize);
        let (tail, missing) = (tail as usize, missing as usize);
        let version = (words[0] >> 32) as u16;
        let known = words[0] as u32 == MAGIC;
        let flags = words[0] >> 48;
        let kinds = words[SEGMENTS_AT..FREE_AT].chunks_exact(4);
        if !known
            || version != VERSION
            || flags > 1
            || kinds.into_iter().any(|w| w[3] > 1)
            || segments > MAX_SEGMENTS
            || free > MAX_FREE
            || tail > Part::Signatures.most_pages()
            || missing > Part::Missing.most_pages()
        {
            let what = if known && version != VERSION {
                "the metapage is of an unknown version"
            } else {
                "the metapage has impossible numbers"
            };
            crate::pg::error::raise(&index.damaged(META, what));
        }
        let entries = words[SEGMENTS_AT..FREE_AT].chunks_exact(4).take(segments);
        let lists = words[FREE_AT..TAIL_AT].chunks_exact(2).take(free);
        let meta = Meta {
            identity: words[1],
            thresholds: words[0] >> 48 & 1 == 1,
            shape: words[2],
            next_generation: words[3],
            segments: entries
                .map(|w| Entry {
                    generation: w[0],
                    rows: w[1] as u32,
                    dead: (w[1] >> 32) as u32,
                    map: w[2] as u32,
                    pages: (w[2] >> 32) as u32,
                    part: if w[3] & 1 == 1 {
                        Part::Missing
                    } else {
                        Part::Signatures
                    },
                })
                .collect(),
            free: lists
                .map(|w| FreeList {
                    horizon: w[0],
                    first: w[1] as u32,
                    blocks: (w[1] >> 32) as u32,
                })
                .collect(),
            tails: [
                read_blocks(&words[TAIL_AT..MISSING_AT], tail),
                read_blocks(&words[MISSING_AT..], missing),
            ],
        };
        if let Some(what) = meta.wrong() {
            crate::pg::error::raise(&index.damaged(META, what));
        }
        meta
    }

    /// No page has been replaced until `later` was read.
    pub fn holds_of(&self, later: &Meta) -> bool {
        let is_there = |s: &Entry| later.segments.iter().any(|l| l.generation == s.generation);
        let mut tails = later.tails.iter().zip(&self.tails);
        self.segments.iter().all(is_there) && tails.all(|(l, t)| l.starts_with(t))
    }

    /// As it is now, for a scan.
    pub fn read_for(index: Index, snapshot: pg_sys::Snapshot) -> Meta {
        let buffer = index.share(META);
        buffer.test_old_snapshot(index, snapshot);
        Meta::decode(index, &buffer)
    }

    /// As it is now.
    pub fn read(index: Index) -> Meta {
        Meta::decode(index, &index.share(META))
    }

    /// How rows of a part lie on pages.
    pub fn geometry(&self, part: Part) -> Geometry {
        match part {
            Part::Signatures => {
                Geometry::new(PAGE_WORDS, bits_of(self.shape), self.thresholds).or_raise()
            }
            Part::Missing => Geometry::new(PAGE_WORDS, 1, false).or_raise(),
        }
    }

    /// Changes the metapage, whose buffer is locked for writing.
    pub fn store(&self, index: Index, buffer: &Buffer) {
        self.check_size();
        page::change(index, [buffer], |[words]| self.encode(words));
    }
}
