//! How many rows of an index nearly equal a query, for the planner: the lists of the query's own values, in all segments.

use std::cell::RefCell;

use bloom_ident_core::filter::View;
use bloom_ident_core::sigfile::search::own::own_lists;
use bloom_ident_core::sigfile::{Meta, Part, Query, SegmentEntry};
use pgrx::pg_sys;

use super::key::query_words;
use crate::pg::relation::OpenRelation;
use crate::sigfile::meta;
use crate::sigfile::page::SigfileIndex;
use crate::sigfile::read::{cache, SegmentReader};

/// Lists that are looked at, some 0.15 µs each.
const LISTS: usize = 48;

/// Lists of a segment that are looked at in any case; where there are so many segments that this makes more than [`LISTS`], the
/// largest stand for all.
const LEAST: usize = 4;

/// What was looked up last; the cost of the scan is estimated from it.
struct Looked {
    /// That of the index.
    identity: u64,
    user: pg_sys::Oid,
    words: Vec<u64>,
    threshold: f64,
    generations: Vec<u64>,
    alike: f64,
    /// For some segments the lengths of all lists.
    lengths: Vec<(u64, Vec<u32>)>,
}

thread_local! {
    static LAST: RefCell<Option<Looked>> = const { RefCell::new(None) };
}

/// The lengths of the lists of the query's own values in a segment, if the same user has just looked at them.
pub fn lengths(meta: &Meta, segment: &SegmentEntry, words: &[u64]) -> Option<Vec<u32>> {
    // SAFETY: a variable of the session.
    let user = unsafe { pg_sys::GetUserId() };
    LAST.with_borrow(|last| {
        let last = last.as_ref()?;
        if (last.identity, last.user) != (meta.identity, user) || last.words != words {
            return None;
        }
        let of = |l: &&(u64, Vec<u32>)| l.0 == segment.generation;
        last.lengths.iter().find(of).map(|l| l.1.clone())
    })
}

/// Rows of the segments that agree with a signature in the chunk where that says most, and have about as many bits as it takes to
/// reach the threshold. `None` where the index cannot tell, as when it is damaged: a plan may do without it.
///
/// # Safety
/// `index` is an index of sigfile, which this transaction has locked.
pub unsafe fn rows_alike(index: pg_sys::Oid, signature: &View<'_>, threshold: f64) -> Option<f64> {
    let open = OpenRelation::index(index, pg_sys::NoLock);
    // SAFETY: the caller knows what index it is.
    let index = unsafe { SigfileIndex::of(&open) };
    let meta = meta::read(index);
    let words = query_words(&meta, *signature)?;
    let of_signatures = meta.segments.iter().filter(|s| s.part == Part::Signatures);
    let mut segments: Vec<&SegmentEntry> = of_signatures.collect();
    let generations: Vec<u64> = segments.iter().map(|s| s.generation).collect();
    // SAFETY: a variable of the session.
    let user = unsafe { pg_sys::GetUserId() };
    let known = LAST.with_borrow(|last| {
        let last = last.as_ref()?;
        let same = (last.identity, last.user, last.threshold) == (meta.identity, user, threshold)
            && last.words == words
            && last.generations == generations;
        same.then_some(last.alike)
    });
    if known.is_some() {
        return known;
    }
    let rows =
        |segments: &[&SegmentEntry]| -> f64 { segments.iter().map(|s| f64::from(s.rows)).sum() };
    let all = rows(&segments);
    segments.sort_unstable_by_key(|s| std::cmp::Reverse(s.rows));
    segments.truncate(LISTS / LEAST);
    let wanted = LISTS / segments.len().max(1);
    let (mut alike, mut lengths) = (0.0, Vec::new());
    for &entry in &segments {
        let loaded = cache::segment(index, &meta, entry).ok()?;
        let segment = &loaded.segment;
        if segment.postings.is_empty() {
            continue;
        }
        let query = Query::new(&segment.geometry, &words, threshold);
        let mut reader = SegmentReader::new(index, &loaded);
        let lists = own_lists(segment, &query, wanted, &mut reader).ok()?;
        alike += f64::from(lists.alike);
        lengths.extend(lists.lengths.map(|l| (entry.generation, l)));
    }
    let alike = alike * (all / rows(&segments).max(1.0)).max(1.0);
    LAST.replace(Some(Looked {
        identity: meta.identity,
        user,
        words,
        threshold,
        generations,
        alike,
        lengths,
    }));
    Some(alike)
}
