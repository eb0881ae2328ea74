//! The words of the metapage.

use std::cell::Cell;

use bloom_ident_core::filter::{newer_version, Shape};
use bloom_ident_core::sigfile::posting::MAX_ROWS;
use bloom_ident_core::sigfile::Geometry;
use bloom_ident_core::Error;

use super::{FreeList, Meta, Part, SegmentEntry};
use crate::sigfile::page::words::{join, pack, split, unpack};
use crate::sigfile::page::{SigfileIndex, META, PAGE_WORDS};

/// "BISF"
const MAGIC: u32 = 0x4653_4942;

/// Version of the format of an index.
const VERSION: u16 = 1;

// Words at which the tables begin, and how much they hold.

const SEGMENTS_AT: usize = 8;

/// Segments that an index can have.
pub const MAX_SEGMENTS: usize = 48;

const FREE_AT: usize = SEGMENTS_AT + 4 * MAX_SEGMENTS;

/// Lists of free blocks that an index can have.
pub const MAX_FREE: usize = 32;

pub const TAIL_AT: usize = FREE_AT + 2 * MAX_FREE;

pub const NULLS_WORDS: usize = 128;

pub const NULLS_AT: usize = PAGE_WORDS - NULLS_WORDS;

const _: () = {
    assert!(FREE_AT == 200 && TAIL_AT == 264 && NULLS_AT == 891);
    assert!(TAIL_AT < NULLS_AT);
};

fn write_blocks(blocks: &[u32], words: &mut [u64]) {
    for (word, two) in words.iter_mut().zip(pack(blocks)) {
        *word = two;
    }
}

/// Bits of a signature, by its shape.
pub fn bits_of(shape: u64) -> u32 {
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

/// Fails over an index that a newer version has written, or its signatures. Any other unknown version is damage.
fn refuse_newer(index: SigfileIndex<'_>, version: u16, shape: u64) {
    let (is, version, ours) = match newer_version(&shape.to_le_bytes()) {
        // They count from 1, as those of signatures do.
        _ if (VERSION + 1..0x80).contains(&version) => ("is", version, VERSION),
        Some(version) => (
            "has signatures",
            version.into(),
            bloom_ident_core::filter::VERSION.into(),
        ),
        None => return,
    };
    let what = format!(
        "index \"{}\" {is} in format version {version}",
        index.name()
    );
    crate::pg::error::raise(&Error::newer_format(what, ours).hint(
        "Install the version of bloom_ident that was used before, or rebuild the index with REINDEX.",
    ));
}

impl Meta {
    /// Writes what [`Meta::check_size`] has found to fit.
    pub fn encode(&self, words: &mut [u64]) {
        words[0] = u64::from(MAGIC) | u64::from(VERSION) << 32 | u64::from(self.thresholds) << 48;
        words[1] = self.identity;
        words[2] = self.shape;
        words[3] = self.next_generation;
        words[4] = join(self.segments.len() as u32, self.free.len() as u32);
        words[5] = join(self.tails[0].len() as u32, self.tails[1].len() as u32);
        words[6..].fill(0);
        let segments = words[SEGMENTS_AT..FREE_AT].chunks_exact_mut(4);
        for (to, s) in segments.zip(&self.segments) {
            to[0] = s.generation;
            to[1] = join(s.rows, s.dead);
            to[2] = join(s.map, s.pages);
            to[3] = s.part as u64;
        }
        let lists = words[FREE_AT..TAIL_AT].chunks_exact_mut(2);
        for (to, list) in lists.zip(&self.free) {
            to[0] = list.horizon;
            to[1] = join(list.first, list.blocks);
        }
        write_blocks(&self.tails[0], &mut words[TAIL_AT..NULLS_AT]);
        write_blocks(&self.tails[1], &mut words[NULLS_AT..]);
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
    ///
    /// Errors: a newer format; damage.
    pub fn of_words(index: SigfileIndex<'_>, words: &[u64]) -> Meta {
        let (segments, free) = split(words[4]);
        let (tail, nulls) = split(words[5]);
        let (segments, free) = (segments as usize, free as usize);
        let (tail, nulls) = (tail as usize, nulls as usize);
        let version = (words[0] >> 32) as u16;
        let known = words[0] as u32 == MAGIC;
        if known {
            refuse_newer(index, version, words[2]);
        }
        let flags = words[0] >> 48;
        let kinds = words[SEGMENTS_AT..FREE_AT].chunks_exact(4);
        if !known
            || version != VERSION
            || flags > 1
            || kinds.into_iter().any(|w| w[3] > 1)
            || segments > MAX_SEGMENTS
            || free > MAX_FREE
            || tail > Part::Signatures.most_pages()
            || nulls > Part::Nulls.most_pages()
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
                .map(|w| {
                    let ((rows, dead), (map, pages)) = (split(w[1]), split(w[2]));
                    SegmentEntry {
                        generation: w[0],
                        rows,
                        dead,
                        map,
                        pages,
                        part: if w[3] & 1 == 1 {
                            Part::Nulls
                        } else {
                            Part::Signatures
                        },
                    }
                })
                .collect(),
            free: lists
                .map(|w| {
                    let (first, blocks) = split(w[1]);
                    FreeList {
                        horizon: w[0],
                        first,
                        blocks,
                    }
                })
                .collect(),
            tails: [
                unpack(&words[TAIL_AT..NULLS_AT], tail).collect(),
                unpack(&words[NULLS_AT..], nulls).collect(),
            ],
        };
        if let Some(what) = meta.wrong() {
            crate::pg::error::raise(&index.damaged(META, what));
        }
        meta
    }
}
