//! The postings of a large merge, collected by one session over many of its inserts.
//!
//! To sort a part of a chunk's postings all rows have to be read, which takes some ten milliseconds for a million. So
//! an inserting session reads some pages at a time and keeps what it has collected in its own memory. The merge tells
//! which process that is, so that others leave it alone; what it collected is lost with it, and nothing else: somebody
//! else begins that part again.

use std::cell::RefCell;

use base::Result;
use pgrx::pg_sys;
use sigfile::merging::SegmentMerge;
use sigfile::write::PostingSorter;
use sigfile::Meta;

/// What is being collected for another index gives way when it was not asked for so many times.
const IDLE: u32 = 256;

/// Rows that are entered, at least, before a session takes postings over that another has made no use of.
const PATIENCE: u64 = 4096;

/// Postings of a chunk of a merge that are being collected, or written a part at a time.
pub struct PartialSort {
    identity: u64,
    generation: u64,
    chunk: u32,
    /// The first posting that is to be written.
    from: u64,
    /// Whether all rows have been read.
    pub collected: bool,
    pub sorter: PostingSorter,
}

#[derive(Default)]
struct KeptSort {
    sort: Option<PartialSort>,
    idle: u32,
    /// Index, merge and pages written of one that another process was seen to be at, and the rows that had been entered
    /// then.
    seen: (u64, u64, u32, u64),
}

pg::session_state! {
    static KEPT: RefCell<KeptSort> = RefCell::default();
    "sorted postings" by "index and merge" until "the merge goes on or ends, or others are at it for long"
        bytes |kept| kept.borrow().sort.as_ref().map_or(0, |sort| sort.sorter.size());
}

impl PartialSort {
    /// For the postings that a merge needs next, in some `memory` bytes.
    ///
    /// Errors: out of memory.
    pub fn new(meta: &Meta, merge: &SegmentMerge, memory: usize) -> Result<PartialSort> {
        let mut sorter = PostingSorter::in_parts(memory, merge.rows)?;
        sorter.start(merge.posting);
        Ok(PartialSort {
            identity: meta.identity,
            generation: merge.generation,
            chunk: merge.chunk,
            from: merge.posting,
            collected: false,
            sorter,
        })
    }

    /// Takes out what this session has kept for the merge.
    pub fn take(meta: &Meta, merge: &SegmentMerge) -> Option<PartialSort> {
        let sort = KEPT.with_borrow_mut(|kept| {
            let own = kept
                .sort
                .take_if(|s| (s.identity, s.generation) == (meta.identity, merge.generation));
            kept.idle = if own.is_some() { 0 } else { kept.idle + 1 };
            own
        })?;
        ((sort.chunk, sort.from) == (merge.chunk, merge.posting)).then_some(sort)
    }

    /// What the merge has written is taken.
    pub fn go_on(&mut self, merge: &SegmentMerge) {
        self.from = merge.posting;
        self.sorter.leave(merge.posting);
    }

    /// Whether there is room to keep one: a session keeps one at a time.
    pub fn has_room() -> bool {
        KEPT.with_borrow(|kept| kept.sort.is_none() || kept.idle > IDLE)
    }

    pub fn keep(self) {
        KEPT.with_borrow_mut(|kept| (kept.sort, kept.idle) = (Some(self), 0));
    }

    /// Forgets what was kept for a merge of this index that is none of these any more.
    pub fn forget_others(meta: &Meta, merges: &[SegmentMerge]) {
        KEPT.with_borrow_mut(|kept| {
            kept.sort.take_if(|sort| {
                let same = |m: &SegmentMerge| m.generation == sort.generation;
                sort.identity == meta.identity && !merges.iter().any(same)
            });
        });
    }
}

/// Whether another process is at the postings of a merge, and has not been gone for long: `entered` rows are there by
/// now.
pub fn is_left_to_others(meta: &Meta, merge: &SegmentMerge, entered: u64) -> bool {
    if merge.owner == 0 || merge.owner == this_process() {
        return false;
    }
    let (from, to) = merge.paced;
    let patience = PATIENCE.max(to.saturating_sub(from) / 16);
    KEPT.with_borrow_mut(|kept| {
        let (identity, generation, written, when) = kept.seen;
        let now = (meta.identity, merge.generation, merge.written);
        if (identity, generation, written) != now {
            kept.seen = (now.0, now.1, now.2, entered);
            return true;
        }
        entered < when.saturating_add(patience)
    })
}

/// The id of this process.
pub fn this_process() -> u32 {
    // SAFETY: a number that the server has set at the beginning of the process.
    unsafe { pg_sys::MyProcPid as u32 }
}
