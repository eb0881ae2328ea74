//! The merge lock: a heavyweight lock on the index, under the name of a tuple of its metapage, where none is.
//!
//! Under the name of the page, as GIN has it, the server would allow no other heavyweight lock while this one is held,
//! and until version 17 would look for no deadlock. But VACUUM cuts the index off under it, and a look into the catalog
//! takes a lock, too. Where it differs, that processes which work for one query have the page's lock to themselves but
//! not a tuple's, nothing is lost: what takes the merge lock never runs in a parallel worker beside another one that
//! does.

use pgrx::pg_sys;

use crate::class::options::SigfileOptions;
use crate::page::{SigfileIndex, SigfileTable, META};
use pg::ffi;
use pg::tid::Tid;

/// The merge lock. A process that holds it may begin merges, go on with them, end them, and use free blocks again. It
/// is held for a step of a merge, so for some milliseconds; an insert that does not get it leaves the step to others.
pub struct MergeLock<'r> {
    pub index: SigfileIndex<'r>,
    pub table: SigfileTable<'r>,
    pub options: SigfileOptions,
}

/// What stands for the index among the server's locks.
const NAME: Tid = Tid::of_row(META, 1);

const LOCK: pg_sys::LOCKMODE = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;

impl Drop for MergeLock<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the relation is open, and this process has had the lock since construction.
            unsafe { pg_sys::UnlockTuple(self.index.relation(), &mut NAME.pointer(), LOCK) };
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
        unsafe { ffi::LockTuple(index.relation(), &mut NAME.pointer(), LOCK) };
        MergeLock::held(index, table)
    }

    /// `None` while somebody else has the lock.
    pub fn now(index: SigfileIndex<'r>, table: SigfileTable<'r>) -> Option<MergeLock<'r>> {
        // SAFETY: the relation is open.
        let locked = unsafe {
            #[cfg(not(feature = "pg18"))]
            let locked = ffi::ConditionalLockTuple(index.relation(), &mut NAME.pointer(), LOCK);
            #[cfg(feature = "pg18")]
            let locked =
                ffi::ConditionalLockTuple(index.relation(), &mut NAME.pointer(), LOCK, false);
            locked
        };
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
