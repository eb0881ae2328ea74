//! What sessions remember of segments: their descriptions, which never change.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bloom_ident_core::sigfile::Segment;

use super::meta::{Entry, Meta};
use super::page::{Index, Kind};
use crate::pg::error::OrRaise;

/// A segment, and where its pages are.
pub struct Loaded {
    pub generation: u64,
    pub segment: Segment,
    /// Row pages, then posting pages.
    pub blocks: Vec<u32>,
    /// Pages of this description.
    pub map: Vec<u32>,
    /// For each block the buffer where it was found last, 0 if never.
    pub recent: Vec<Cell<i32>>,
}

/// Bytes of descriptions that a session remembers, beside the one that it needs: each has some 12 a page.
const REMEMBERED: usize = 64 << 20;

impl Loaded {
    /// Bytes of memory.
    fn size(&self) -> usize {
        self.segment.size() + 4 * (2 * self.blocks.len() + self.map.len())
    }
}

struct Remembered {
    identity: u64,
    loaded: Rc<Loaded>,
}

thread_local! {
    /// The last used last.
    static CACHE: RefCell<Vec<Remembered>> = const { RefCell::new(Vec::new()) };
}

/// The description of a segment.
pub fn segment(index: Index, meta: &Meta, entry: &Entry) -> Rc<Loaded> {
    let known = CACHE.with_borrow_mut(|cache| {
        let at = cache.iter().rposition(|r| {
            r.identity == meta.identity && r.loaded.generation == entry.generation
        })?;
        let found = cache.remove(at);
        let loaded = found.loaded.clone();
        cache.push(found);
        Some(loaded)
    });
    if let Some(loaded) = known {
        return loaded;
    }
    let loaded = Rc::new(load(index, meta, entry));
    CACHE.with_borrow_mut(|cache| {
        // segments of this index that are gone make room first
        cache.retain(|r| {
            r.identity != meta.identity
                || meta
                    .segments
                    .iter()
                    .any(|s| s.generation == r.loaded.generation)
        });
        while cache.iter().map(|r| r.loaded.size()).sum::<usize>() > REMEMBERED {
            cache.remove(0);
        }
        cache.push(Remembered {
            identity: meta.identity,
            loaded: loaded.clone(),
        });
    });
    loaded
}

/// Map pages: the next one's block (u32, 0 at the end) and the words on this one (u32), then the words: the
/// number of blocks, the blocks, the segment.
pub const MAP_HEADER: usize = 1;

/// Reads a description from its map pages.
pub fn load(index: Index, meta: &Meta, entry: &Entry) -> Loaded {
    let (mut words, mut map) = (Vec::new(), Vec::new());
    let mut block = entry.map;
    while block != 0 {
        let buffer = index
            .share(block)
            .expect(index, Kind::Map, entry.generation);
        map.push(block);
        let content = buffer.words();
        let n = (content[0] >> 32) as usize;
        if n >= content.len() || map.len() > entry.pages as usize {
            drop(buffer);
            index.corrupt(block, "a damaged map");
        }
        words.extend_from_slice(&content[MAP_HEADER..MAP_HEADER + n]);
        block = content[0] as u32;
    }
    let count = words.first().map_or(0, |&n| n as usize);
    let rest = 1 + count.div_ceil(2);
    if words.len() < rest {
        index.corrupt(entry.map, "a damaged map");
    }
    let pairs = words[1..rest]
        .iter()
        .flat_map(|&w| [w as u32, (w >> 32) as u32]);
    let blocks: Vec<u32> = pairs.take(count).collect();
    let segment = Segment::decode(meta.geometry(entry.part), &mut &words[rest..]).or_raise();
    if segment.pages() as usize != blocks.len() || segment.rows != entry.rows {
        index.corrupt(entry.map, "a damaged map");
    }
    Loaded {
        generation: entry.generation,
        segment,
        recent: vec![Cell::new(0); blocks.len()],
        blocks,
        map,
    }
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
