//! Publishing: new segments take the place of old ones by one change of the metapage, under the merge lock.

use bloom_ident_core::sigfile::meta::FreeList;
use bloom_ident_core::sigfile::words::pack;
use bloom_ident_core::sigfile::{Part, SegmentEntry};
use pgrx::pg_sys;

use super::BlockPool;
use crate::pg::error::OrRaise;
use crate::pg::ffi;
use crate::sigfile::class::options::SigfileOptions;
use crate::sigfile::meta;
use crate::sigfile::page::{PageKind, SigfileIndex, SigfileTable, META};

/// The merge lock: the heavyweight lock on the metapage's block. A process that holds it may publish segments and use free
/// blocks again. VACUUM holds it from the first page to the last, so that no row moves past it.
pub struct MergeLock<'r> {
    pub index: SigfileIndex<'r>,
    pub table: SigfileTable<'r>,
    pub options: SigfileOptions,
}

const LOCK: pg_sys::LOCKMODE = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;

impl Drop for MergeLock<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the relation is open, and this process has had the lock since construction.
            unsafe { pg_sys::UnlockPage(self.index.relation(), META, LOCK) };
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

impl<'r> MergeLock<'r> {
    fn held(index: SigfileIndex<'r>, table: SigfileTable<'r>) -> MergeLock<'r> {
        MergeLock {
            index,
            table,
            options: SigfileOptions::of(index),
        }
    }

    /// Waits for the lock.
    pub fn wait(index: SigfileIndex<'r>, table: SigfileTable<'r>) -> MergeLock<'r> {
        // SAFETY: the relation is open.
        unsafe { ffi::LockPage(index.relation(), META, LOCK) };
        MergeLock::held(index, table)
    }

    /// `None` while somebody else has the lock.
    pub fn now(index: SigfileIndex<'r>, table: SigfileTable<'r>) -> Option<MergeLock<'r>> {
        // SAFETY: the relation is open.
        let locked = unsafe { pg_sys::ConditionalLockPage(index.relation(), META, LOCK) };
        locked.then(|| MergeLock::held(index, table))
    }

    /// Bytes of memory for sorting.
    pub fn memory() -> usize {
        // SAFETY: a setting of this process.
        unsafe { pg_sys::maintenance_work_mem as usize * 1024 }
    }

    /// Puts the new segments in the place of the sources, and lists the blocks that are free now: those that are left in the
    /// pool, and the retired ones.
    ///
    /// The list names all of them before it is written, so it stands on none of them but on new pages at the end: the pool
    /// is empty by then. A page that was named by the list that it stands on would be free and in use.
    pub fn publish(
        &self,
        mut pool: BlockPool<'_>,
        new: &[SegmentEntry],
        sources: &MergeSources,
        consumed: &UsedUpLists,
        mut retired: Vec<u32>,
    ) {
        let index = self.index;
        retired.append(&mut pool.free);
        let words: Vec<u64> = pack(&retired).collect();
        let list = pool.write_chain(PageKind::Free, 0, &words);
        let mut metapage = index.exclusive(META);
        let mut meta = meta::of_page(&metapage);
        meta.segments
            .retain(|s| !sources.segments.contains(&s.generation));
        meta.segments.extend_from_slice(new);
        meta.tails[sources.part as usize].drain(..sources.tail);
        meta.free.retain(|f| !consumed.lists.contains(&f.first));
        if let Some(&first) = list.first() {
            // A process that has read the metapage before has a snapshot that is no younger, since nobody can read it while
            // this is asked.
            // SAFETY: the server takes a lock of its own for reading.
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
            // The next row may have any shape.
            meta.set_shape(0).or_raise();
        }
        meta::store(&meta, &mut metapage);
        // A standby may take a snapshot that knows of transactions begun since, and still find the old
        // metapage: what counts there is the order of the log.
        // SAFETY: the server takes a lock of its own for reading.
        let later = unsafe { pg_sys::ReadNextFullTransactionId() }.value;
        if let Some(last) = meta.free.last_mut() {
            if !list.is_empty() && last.horizon != later {
                last.horizon = later;
                meta::store(&meta, &mut metapage);
            }
        }
    }
}

/// Free lists that a rewriting has used up, and blocks of theirs that are not free yet.
#[derive(Default)]
pub struct UsedUpLists {
    /// First blocks of the lists.
    pub lists: Vec<u32>,
    /// Blocks that are to be listed again.
    pub blocks: Vec<u32>,
}

/// RelationNeedsWAL().
pub fn needs_wal(index: SigfileIndex<'_>) -> bool {
    // SAFETY: an open relation has its entry in the relation cache and its row of pg_class; the rest is a setting.
    unsafe {
        let r = &*index.relation();
        let permanent = (*r.rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
        let always = pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        #[cfg(feature = "pg15")]
        let new_file = r.rd_firstRelfilenodeSubid;
        #[cfg(not(feature = "pg15"))]
        let new_file = r.rd_firstRelfilelocatorSubid;
        permanent && (always || (r.rd_createSubid == 0 && new_file == 0))
    }
}
