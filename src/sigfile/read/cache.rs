//! What sessions remember of segments: their descriptions, which never change.

use std::cell::RefCell;
use std::rc::Rc;

use bloom_ident_core::Result;

use super::{load, SegmentDescription};
use crate::sigfile::meta::{Meta, SegmentEntry};
use crate::sigfile::page::SigfileIndex;

/// Bytes of descriptions that a session remembers, beside the one that it needs: each has some 12 a page.
const REMEMBERED: usize = 64 << 20;

struct CachedDescription {
    identity: u64,
    loaded: Rc<SegmentDescription>,
}

thread_local! {
    /// The last used last.
    static CACHE: RefCell<Vec<CachedDescription>> = const { RefCell::new(Vec::new()) };
}

/// The description of a segment.
///
/// Errors: a damaged one; out of memory.
#[inline]
pub fn segment(
    index: SigfileIndex<'_>,
    meta: &Meta,
    entry: &SegmentEntry,
) -> Result<Rc<SegmentDescription>> {
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
        return Ok(loaded);
    }
    let loaded = Rc::new(load(index, meta, entry)?);
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
        cache.push(CachedDescription {
            identity: meta.identity,
            loaded: loaded.clone(),
        });
    });
    Ok(loaded)
}
