//! Publishing.

use pgrx::pg_sys;

use super::BlockPool;
use crate::pg::ffi;
use crate::sigfile::class::options::SigfileOptions;
use crate::sigfile::meta::{FreeList, Meta, Part, SegmentEntry};
use crate::sigfile::page::{PageKind, SigfileIndex, META};

/// The right to publish segments: the heavyweight lock on the metapage's block. VACUUM holds it from
/// the first page to the last, so that no row moves past it.
pub struct MergeLock {
    pub index: SigfileIndex,
    /// NULL if not known.
    pub heap: pg_sys::Relation,
    pub options: SigfileOptions,
}

const LOCK: pg_sys::LOCKMODE = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;

impl Drop for MergeLock {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: locked since construction.
            unsafe { pg_sys::UnlockPage(self.index.relation, META, LOCK) };
        }
    }
}

/// What a rewriting takes.
pub struct MergeSources {
    pub part: Part,
    /// Generations of segments.
    pub segments: Vec<u64>,
    /// Pages of the tail, from its beginning: full or closed.
    pub tail: usize,
}

impl MergeLock {
    /// Waits for the lock.
    pub fn wait(index: SigfileIndex, heap: pg_sys::Relation) -> MergeLock {
        // SAFETY: the relation is open.
        unsafe { ffi::LockPage(index.relation, META, LOCK) };
        MergeLock {
            index,
            heap,
            options: SigfileOptions::of(index),
        }
    }

    /// `None` while somebody else has the lock.
    pub fn now(index: SigfileIndex, heap: pg_sys::Relation) -> Option<MergeLock> {
        // SAFETY: the relation is open.
        unsafe { pg_sys::ConditionalLockPage(index.relation, META, LOCK) }.then(|| MergeLock {
            index,
            heap,
            options: SigfileOptions::of(index),
        })
    }

    /// Bytes of memory for sorting.
    pub fn memory() -> usize {
        // SAFETY: a setting.
        unsafe { pg_sys::maintenance_work_mem as usize * 1024 }
    }

    /// Puts the new segments in the place of the sources, and lists the blocks that are free now.
    pub fn publish(
        &self,
        mut pool: BlockPool,
        new: &[SegmentEntry],
        sources: &MergeSources,
        consumed: &UsedUpLists,
        mut retired: Vec<u32>,
    ) {
        let index = self.index;
        retired.append(&mut pool.free);
        let mut words = Vec::new();
        words.extend(
            retired
                .chunks(2)
                .map(|two| u64::from(two[0]) | u64::from(two.get(1).copied().unwrap_or(0)) << 32),
        );
        let list = pool.write_chain(PageKind::Free, 0, &words);
        let buffer = index.exclusive(META);
        let mut meta = Meta::decode(index, &buffer);
        meta.segments
            .retain(|s| !sources.segments.contains(&s.generation));
        meta.segments.extend_from_slice(new);
        meta.tails[sources.part as usize].drain(..sources.tail);
        meta.free.retain(|f| !consumed.lists.contains(&f.first));
        if let Some(&first) = list.first() {
            // Whoever has read the metapage before has a snapshot that is no younger: asked for while
            // nobody else can read it.
            // SAFETY: takes a lock for reading only.
            let horizon = unsafe { pg_sys::ReadNextFullTransactionId() }.value;
            meta.free.push(FreeList {
                horizon,
                first,
                blocks: retired.len() as u32,
            });
        }
        let last = new.iter().map(|s| s.generation).max();
        meta.next_generation = last.map_or(meta.next_generation, |last| last + 1);
        let signatures = Part::Signatures;
        if meta.tails[signatures as usize].is_empty()
            && meta.segments.iter().all(|s| s.part != signatures)
        {
            // the next row may have any shape
            meta.shape = 0;
        }
        meta.store(index, &buffer);
        // A standby may take a snapshot that knows of transactions begun since, and still find the old
        // metapage: what counts there is the order of the log.
        // SAFETY: as above.
        let later = unsafe { pg_sys::ReadNextFullTransactionId() }.value;
        if let Some(last) = meta.free.last_mut() {
            if !list.is_empty() && last.horizon != later {
                last.horizon = later;
                meta.store(index, &buffer);
            }
        }
    }
}

/// Free lists that a rewriting has used up, and blocks of theirs that are not free yet.
#[derive(Default)]
pub struct UsedUpLists {
    pub lists: Vec<u32>,
    pub blocks: Vec<u32>,
}

/// RelationNeedsWAL().
///
/// SAFETY: the relation is open.
pub unsafe fn needs_wal(relation: pg_sys::Relation) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        let r = &*relation;
        let permanent = (*r.rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
        let always = pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        #[cfg(feature = "pg15")]
        let new_file = r.rd_firstRelfilenodeSubid;
        #[cfg(not(feature = "pg15"))]
        let new_file = r.rd_firstRelfilelocatorSubid;
        permanent && (always || (r.rd_createSubid == 0 && new_file == 0))
    }
}
