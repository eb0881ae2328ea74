//! A metapage to damage. The fuzz targets include this file too.

use sigfile::chunk::Chunk;
use sigfile::merging::{MergedChunk, Phase, RowPosition, SegmentMerge, MAX_MERGES};
use sigfile::meta::{FreeList, MAX_FREE, MAX_SEGMENTS, MAX_STOCK};
use sigfile::{Meta, Part, SegmentEntry};

/// What the metapage says of an index that has as much of everything as it can.
pub fn full_metapage(page_words: usize) -> Meta {
    let mut meta = Meta::new(page_words, 0x1234_5678_9abc_def0, true, false).unwrap();
    let shape = [1, 7, 43, 0, 3, 1, 0, 0];
    meta.set_shape(u64::from_le_bytes(shape).into()).unwrap();
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

/// As many merges as there can be.
pub fn full_page_of_merges() -> Vec<SegmentMerge> {
    let merge = |n: u32| SegmentMerge {
        generation: 900 + u64::from(n),
        part: Part::ALL[n as usize % 2],
        phase: [Phase::Rows, Phase::Postings, Phase::Description][n as usize % 3],
        segments: (1..=u64::from(n)).map(|i| 3 * i).collect(),
        tail: 5 + n,
        list: (300 + n, 400 + n),
        listed: 20,
        written: 15,
        rows: 1000,
        dead: 40,
        owner: if n.is_multiple_of(3) { 0 } else { 4711 },
        position: RowPosition {
            popcount: 90 + n,
            source: n,
            row: 7,
            key: if n.is_multiple_of(3) { 50 * n } else { 0 },
        },
        least_threshold: if n.is_multiple_of(2) {
            0.5
        } else {
            f64::INFINITY
        },
        chunk: 1,
        posting: 7 << 32 | 8,
        paced: (5000, 6000),
        expected_rows: 1200,
        expected_pages: 30,
        chunks: (0..3)
            .map(|i| MergedChunk {
                chunk: Chunk {
                    start: 20 * i,
                    width: 20,
                },
                pages: i + 1,
            })
            .collect(),
    };
    (0..MAX_MERGES as u32).map(merge).collect()
}
