//! What sessions remember of segments: their descriptions, which never change.

use std::cell::RefCell;
use std::rc::Rc;

use base::Result;
use sigfile::{Meta, SegmentEntry};

use super::{load, SegmentDescription};
use crate::page::SigfileIndex;

/// Bytes of descriptions that a session remembers, beside the one that it needs: each has some 12 a page.
const REMEMBERED: usize = 64 << 20;

struct CachedDescription {
    /// That of the index.
    identity: u64,
    description: Rc<SegmentDescription>,
}

pg::session_state! {
    /// The last used last.
    static CACHE: RefCell<Vec<CachedDescription>> = RefCell::default();
    "segments" by "index and generation" until "the segment is merged, or 64 MB of others are used"
        bytes |cache| cache.borrow().iter().map(|r| r.description.size()).sum();
}

/// The description of a segment, remembered or read.
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
            r.identity == meta.identity && r.description.generation == entry.generation
        })?;
        let found = cache.remove(at);
        let description = found.description.clone();
        cache.push(found);
        Some(description)
    });
    if let Some(description) = known {
        return Ok(description);
    }
    let description = Rc::new(load(index, meta, entry)?);
    CACHE.with_borrow_mut(|cache| {
        // Segments of this index that are gone make room first.
        cache.retain(|r| {
            r.identity != meta.identity
                || meta
                    .segments
                    .iter()
                    .any(|s| s.generation == r.description.generation)
        });
        while cache.iter().map(|r| r.description.size()).sum::<usize>() > REMEMBERED {
            cache.remove(0);
        }
        cache.push(CachedDescription {
            identity: meta.identity,
            description: description.clone(),
        });
    });
    Ok(description)
}
