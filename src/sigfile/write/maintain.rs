//! When tails are sealed and segments are merged by the session that inserts.

use bloom_ident_core::sigfile::merge_policy;
use bloom_ident_core::sigfile::meta::MAX_SEGMENTS;
use bloom_ident_core::sigfile::{Meta, Part};
use bloom_ident_core::{ErrorKind, Result};

use super::{MergeLock, MergeSources};
use crate::pg::error::warn;
use crate::sigfile::meta;

/// Merges of at most so many rows are done by the session that inserts; others wait for VACUUM, unless there
/// are too many segments.
const MERGED_BY_INSERT: u64 = 1 << 19;

/// Segments from which on an insert does not leave any merge to VACUUM.
const TOO_MANY: usize = 20;

/// The limit of an insert then.
const MERGED_IN_NEED: u64 = 1 << 21;

/// Tails of so many times their limit are sealed without merging anything.
const HURRIED: u64 = 3;

/// Segments from which on each new one takes the place of some, even if no size has enough of them: both kinds of
/// rows can have a few of every size.
const NEARLY_ALL: usize = MAX_SEGMENTS - 4;

/// Rows of a tail, if all pages but the last are full.
pub fn tail_rows(meta: &Meta, part: Part) -> u64 {
    let pages = meta.tail(part).len();
    if pages == 0 {
        return 0;
    }
    pages.saturating_sub(1) as u64 * meta.geometry(part).capacity as u64
}

/// Seals the full pages of a tail that has become too long, together with segments of like size, or without these if they are
/// damaged.
///
/// Errors: damage that leaves nothing to do; out of memory.
pub fn maintain(lock: &MergeLock<'_>, part: Part) -> Result<()> {
    let meta = meta::read(lock.index);
    if meta.tail(part).is_empty() {
        return Ok(());
    }
    let stride = meta.geometry(part).stride;
    let limit = u64::from(lock.options.tail_limit(stride));
    let rows = tail_rows(&meta, part);
    let half_full = 2 * meta.tail(part).len() > meta.most_pages(part);
    if rows < limit && !half_full {
        return Ok(());
    }
    let of_part: Vec<_> = meta.segments_of(part).collect();
    let mut sizes: Vec<u64> = of_part.iter().map(|s| u64::from(s.rows - s.dead)).collect();
    sizes.push(rows);
    // With a tail of that length, earlier merges have been canceled, by statement_timeout for example.
    let hurried = rows >= HURRIED * limit && meta.segments.len() < NEARLY_ALL;
    let most = match meta.segments.len() {
        _ if hurried => 0,
        TOO_MANY.. => MERGED_IN_NEED,
        _ => MERGED_BY_INSERT,
    };
    let mut merged = merge_policy::crowded(&sizes, limit.max(1), most);
    if merged.is_empty() && meta.segments.len() >= NEARLY_ALL {
        merged = (0..of_part.len()).collect();
        merged.sort_by_key(|&i| sizes[i]);
        merged.truncate(merge_policy::FAN);
    }
    let segments = merged.iter().filter(|&&i| i < of_part.len());
    let mut sources = MergeSources {
        part,
        segments: segments.map(|&i| of_part[i].generation).collect(),
        tail: meta.tail(part).len() - 1,
    };
    match lock.rewrite(&sources) {
        Err(e)
            if e.kind() == ErrorKind::Corrupted
                && !sources.segments.is_empty()
                && meta.segments.len() < NEARLY_ALL =>
        {
            warn(&e);
            sources.segments.clear();
            lock.rewrite(&sources)
        }
        done => done,
    }
}
