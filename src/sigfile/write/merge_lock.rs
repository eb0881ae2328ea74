//! The merge lock: the heavyweight lock on the metapage's block.

use pgrx::pg_sys;

use crate::pg::ffi;
use crate::sigfile::class::options::SigfileOptions;
use crate::sigfile::page::{SigfileIndex, SigfileTable, META};

/// The merge lock. A process that holds it may begin merges, go on with them, end them, and use free blocks again. It is held for a
/// step of a merge, so for some milliseconds; an insert that does not get it leaves the step to others.
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
