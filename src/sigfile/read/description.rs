//! Descriptions of segments.

use std::cell::Cell;

use bloom_ident_core::sigfile::Segment;
use bloom_ident_core::{Error, Result};

use super::BlockSet;
use crate::pg::check_for_interrupts;
use crate::sigfile::class::has_thresholds;
use crate::sigfile::meta::{Meta, SegmentEntry};
use crate::sigfile::page::{PageKind, SigfileIndex, META, PAGE_WORDS};

/// A segment, and where its pages are.
pub struct SegmentDescription {
    pub generation: u64,
    pub segment: Segment,
    /// Row pages, then posting pages.
    pub blocks: Vec<u32>,
    /// Pages of this description.
    pub map: Vec<u32>,
    /// For each block the buffer where it was found last, 0 if never.
    pub recent: Vec<Cell<i32>>,
}

impl SegmentDescription {
    /// Bytes of memory.
    pub fn size(&self) -> usize {
        self.segment.size() + 4 * (2 * self.blocks.len() + self.map.len())
    }
}

/// Map pages: the next one's block (u32, 0 at the end) and the words on this one (u32), then the words: the
/// number of blocks, the blocks, the segment.
pub const MAP_HEADER: usize = 1;

/// Reads a description from its map pages.
///
/// Errors: a damaged one; out of memory.
pub fn load(index: SigfileIndex, meta: &Meta, entry: &SegmentEntry) -> Result<SegmentDescription> {
    let total = index.blocks();
    let wrong = |block: u32| index.damaged(block, "the description of a segment is impossible");
    if entry.pages > total || meta.thresholds != has_thresholds(index) {
        return Err(wrong(META));
    }
    let (words, map) = read_map(index, entry)?;
    let count = words.first().copied().unwrap_or(0);
    if count.checked_add(map.len() as u64) != Some(entry.pages.into()) {
        return Err(wrong(entry.map));
    }
    let count = count as usize;
    let (listed, mut rest) = words[1..]
        .split_at_checked(count.div_ceil(2))
        .ok_or_else(|| wrong(entry.map))?;
    let mut blocks = Vec::new();
    blocks
        .try_reserve_exact(count)
        .map_err(|_| Error::out_of_memory(4 * count))?;
    let pairs = listed.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]);
    blocks.extend(pairs.take(count));
    let mut used = BlockSet::new(total)?;
    used.claim(META);
    if !blocks.iter().chain(&map).all(|&block| used.claim(block)) {
        return Err(wrong(entry.map));
    }
    let segment = Segment::decode(meta.geometry(entry.part), &mut rest)
        .map_err(|e| index.locate(e.on_page(0), &[entry.map]))?;
    if segment.pages() as usize != count || segment.rows != entry.rows || !rest.is_empty() {
        return Err(wrong(entry.map));
    }
    let mut recent = Vec::new();
    recent
        .try_reserve_exact(count)
        .map_err(|_| Error::out_of_memory(4 * count))?;
    recent.resize(count, Cell::new(0));
    Ok(SegmentDescription {
        generation: entry.generation,
        segment,
        recent,
        blocks,
        map,
    })
}

/// The words of a chain of map pages, and the blocks of these. All but the last are full, so that there is no circle.
fn read_map(index: SigfileIndex, entry: &SegmentEntry) -> Result<(Vec<u64>, Vec<u32>)> {
    let (mut words, mut map) = (Vec::new(), Vec::new());
    let mut block = entry.map;
    while block != META {
        let buffer = index
            .share(block)
            .expect(index, PageKind::Map, entry.generation)?;
        let content = buffer.words();
        let (next, n) = (content[0] as u32, (content[0] >> 32) as usize);
        let room = PAGE_WORDS - MAP_HEADER;
        let fits = if next == META { n <= room } else { n == room };
        map.push(block);
        if !fits || n == 0 || map.len() >= entry.pages as usize {
            return Err(index.damaged(block, "the description of a segment is impossible"));
        }
        words
            .try_reserve(n)
            .map_err(|_| Error::out_of_memory(8 * n))?;
        words.extend_from_slice(&content[MAP_HEADER..MAP_HEADER + n]);
        block = next;
        drop(buffer);
        check_for_interrupts();
    }
    Ok((words, map))
}

/// The words of a description.
pub fn describe(segment: &Segment, blocks: &[u32]) -> Vec<u64> {
    let mut words = vec![blocks.len() as u64];
    words.extend(
        blocks
            .chunks(2)
            .map(|two| u64::from(two[0]) | u64::from(two.get(1).copied().unwrap_or(0)) << 32),
    );
    segment.encode(&mut words);
    words
}
