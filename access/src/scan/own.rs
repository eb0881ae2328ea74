//! How many rows of an index nearly equal a query, for the planner: the lists of the query's own values, in all
//! segments.

use std::cell::RefCell;
use std::cmp::Reverse;

use pgrx::pg_sys;
use sigfile::search::own;
use sigfile::{Part, RowBits, SegmentEntry};

use crate::class::RowSignature;
use crate::meta;
use crate::page::SigfileIndex;
use crate::read::{self, SegmentReader};
use pg::relation::OpenRelation;

/// Lists that are looked at, at most. On a million names the shortest of 4 lists of a segment tells as much as that of
/// all, nearly.
const LISTS: usize = 16;
const LISTS_OF_SEGMENT: usize = 4;

/// Where there are more segments, the largest stand for all.
const SEGMENTS: usize = 8;

/// What was looked up last: the planner asks again for the conditions that it derives from one.
struct Looked {
    /// That of the index.
    identity: u64,
    generations: Vec<u64>,
    words: Vec<u64>,
    threshold: f64,
    alike: f64,
}

pg::session_state! {
    static LAST: RefCell<Option<Looked>> = RefCell::default();
    "rows alike" by "index, signature and threshold" until "another is asked for, or a segment changes"
        bytes |last| last.borrow().as_ref().map_or(0, |l| 8 * (l.generations.len() + l.words.len()));
}

/// Rows of the segments that agree with a signature in the chunk where that says most, and have about as many bits as
/// it takes to reach the threshold, which is that of users. `None` where the index cannot tell, as when it is damaged:
/// a plan may do without it.
///
/// # Safety
/// `index` is an index of sigfile, which this transaction has locked.
pub unsafe fn rows_alike(
    index: pg_sys::Oid,
    signature: &RowBits<'_>,
    threshold: f64,
) -> Option<f64> {
    let open = OpenRelation::index(index, pg_sys::NoLock);
    // SAFETY: the caller knows what index it is.
    let index = unsafe { SigfileIndex::of(&open) };
    let meta = meta::try_read(index).ok()?;
    let signature = RowSignature::of(signature);
    if signature.tag != meta.shape() {
        return None;
    }
    let words = &signature.words;
    let of_signatures = meta.segments.iter().filter(|s| s.part == Part::Signatures);
    let mut segments: Vec<&SegmentEntry> = of_signatures.collect();
    let known = LAST.with_borrow(|last| {
        let last = last.as_ref()?;
        let generations = segments.iter().map(|s| s.generation);
        let same = (last.identity, last.threshold) == (meta.identity, threshold)
            && last.words == *words
            && generations.eq(last.generations.iter().copied());
        same.then_some(last.alike)
    });
    if known.is_some() {
        return known;
    }
    let generations = segments.iter().map(|s| s.generation).collect();
    let rows = |of: &[&SegmentEntry]| of.iter().map(|s| f64::from(s.rows)).sum::<f64>();
    let all = rows(&segments);
    segments.sort_unstable_by_key(|s| Reverse(s.rows));
    segments.truncate(SEGMENTS);
    let wanted = LISTS_OF_SEGMENT.min(LISTS / segments.len().max(1));
    // one row is as few as none, but not one in each of many segments
    let few = u32::from(segments.len() == 1);
    let mut alike = 0.0;
    for &entry in &segments {
        let loaded = read::segment(index, &meta, entry).ok()?;
        let segment = &loaded.segment;
        if segment.postings.is_empty() {
            continue;
        }
        let query = signature.query(&segment.geometry, threshold);
        let mut reader = SegmentReader::new(index, &loaded);
        let found = own::rows_alike(segment, &query, wanted, few, &mut reader);
        alike += f64::from(found.ok()?);
    }
    let alike = alike * (all / rows(&segments).max(1.0)).max(1.0);
    LAST.replace(Some(Looked {
        identity: meta.identity,
        generations,
        words: signature.words,
        threshold,
        alike,
    }));
    Some(alike)
}
