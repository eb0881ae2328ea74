//! What is in an index.

use pgrx::datum::IntoDatum;
use pgrx::pg_sys;
use sigfile::chunk::Frequencies;
use sigfile::RowShape;
use sigfile::{Pages, Part, SegmentEntry};

use super::OpenedSigfile;
use crate::meta;
use crate::page::SigfileIndex;
use crate::read::{self, SegmentDescription, SegmentReader, TailBlocks};
use pg::entry;
use pg::error::OrRaise;
use pg::function::record::record;
use pg::values::varlena::NewValue;

/// `(index regclass) RETURNS (segments integer, rows bigint, dead_rows bigint, tail_rows bigint, null_rows bigint,
/// bytes bigint, free_bytes bigint, shape text, chunk_bits integer[], entropy float8)`
#[entry(volatile, parallel_restricted)]
fn bloom_sigfile_stats(oid: pg_sys::Oid, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let opened = OpenedSigfile::new(oid, pg_sys::AccessShareLock, false);
    let index = opened.index();
    let meta = meta::read(index);
    let sum = |part: Part, of: &dyn Fn(&SegmentEntry) -> u32| -> i64 {
        meta.segments_of(part).map(|s| i64::from(of(s))).sum()
    };
    let mut tail_rows = [0i64; 2];
    for part in Part::ALL {
        for page in TailBlocks::of(&meta, part).shared(index, meta.geometry(part)) {
            let live = page.and_then(|page| page.live_rows()).or_raise();
            tail_rows[part as usize] += live as i64;
        }
    }
    let listed = meta.free.iter().map(|list| list.blocks).sum::<u32>();
    let free = listed + meta.stock.len() as u32;
    let block_size = i64::from(pg_sys::BLCKSZ);
    let largest = meta.segments_of(Part::Signatures).max_by_key(|s| s.rows);
    let (widths, entropy) = match largest {
        Some(entry) => {
            let loaded = read::segment(index, &meta, entry).or_raise();
            let widths: Vec<i32> = loaded
                .segment
                .postings
                .iter()
                .map(|p| p.chunk.width as i32)
                .collect();
            (Some(widths), Some(entropy(index, &loaded)))
        }
        None => (None, None),
    };
    record(
        fcinfo,
        [
            (meta.segments.len() as i32).into_datum(),
            (sum(Part::Signatures, &|s| s.rows - s.dead) + tail_rows[0]).into_datum(),
            (sum(Part::Signatures, &|s| s.dead) + sum(Part::Nulls, &|s| s.dead)).into_datum(),
            (tail_rows[0] + tail_rows[1]).into_datum(),
            (sum(Part::Nulls, &|s| s.rows - s.dead) + tail_rows[1]).into_datum(),
            (i64::from(index.blocks()) * block_size).into_datum(),
            (i64::from(free) * block_size).into_datum(),
            (meta.shape() != 0)
                .then(|| RowShape::of_tag(meta.shape()).to_string())
                .into_datum(),
            widths.into_datum(),
            entropy.into_datum(),
        ],
    )
}

/// Shannon entropy of a signature, as if its bits were independent, from a sample of the rows.
fn entropy(index: SigfileIndex<'_>, loaded: &SegmentDescription) -> f64 {
    const PAGES: u32 = 256;
    let segment = &loaded.segment;
    let mut frequencies = Frequencies::new(segment.geometry.bits, segment.geometry.measure);
    let mut reader = SegmentReader::new(index, loaded);
    let step = segment.row_pages().div_ceil(PAGES).max(1);
    for page in (0..segment.row_pages()).step_by(step as usize) {
        let rows = reader.rows(page).or_raise();
        for i in 0..rows.len() {
            frequencies.add(rows.words(i, i + 1));
        }
        reader.tick();
    }
    frequencies.total_entropy()
}
