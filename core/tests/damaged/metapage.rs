//! A metapage to damage. The fuzz targets include this file too.

use bloom_ident_core::sigfile::meta::{FreeList, MAX_FREE, MAX_SEGMENTS, MAX_STOCK};
use bloom_ident_core::sigfile::{Meta, Part, SegmentEntry};

/// What the metapage says of an index that has as much of everything as it can.
pub fn full_metapage(page_words: usize) -> Meta {
    let mut meta = Meta::new(page_words, 0x1234_5678_9abc_def0, true).unwrap();
    let shape = [1, 7, 43, 0, 3, 1, 0, 0];
    meta.set_shape(u64::from_le_bytes(shape)).unwrap();
    let segment = |n: u32| SegmentEntry {
        generation: 3 * u64::from(n),
        rows: 1000,
        dead: 40,
        map: 7 * n,
        pages: 6,
        part: Part::ALL[n as usize % 2],
    };
    meta.segments = (1..=MAX_SEGMENTS as u32).map(segment).collect();
    meta.next_generation = 1000;
    let list = |n: u32| FreeList {
        horizon: 900,
        first: 1000 + n,
        blocks: n,
        entered: 5000 + u64::from(n),
    };
    meta.free = (1..=MAX_FREE as u32).map(list).collect();
    (meta.work, meta.merges, meta.sealed) = (1900, 3, 1 << 40);
    meta.stock = (1901..).take(MAX_STOCK).collect();
    meta.tails = Part::ALL.map(|part| (2000..).take(meta.most_pages(part)).collect());
    meta
}
