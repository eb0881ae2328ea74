//! The index whose pages are read.

use std::cell::Cell;

use pgrx::pg_sys;

use super::Buffer;
use crate::pg::ffi;
use crate::pg::tid::has_block;

/// Whose pages are read, and by which strategy.
#[derive(Clone, Copy)]
pub struct SigfileIndex {
    pub relation: pg_sys::Relation,
    pub strategy: pg_sys::BufferAccessStrategy,
}

impl SigfileIndex {
    /// SAFETY: `relation` is an open sigfile index and stays open as long as the result is used.
    pub unsafe fn new(relation: pg_sys::Relation) -> Self {
        SigfileIndex {
            relation,
            strategy: std::ptr::null_mut(),
        }
    }

    /// Errors: a block that the index does not have.
    fn read(self, block: u32) -> Buffer {
        // SAFETY: the relation is open.
        if !unsafe { has_block(self.relation, block) } {
            let blocks = self.blocks();
            let what = format!("the index has {blocks} blocks only");
            crate::pg::error::raise(&self.damaged(block, &what));
        }
        self.pin(block, pg_sys::ReadBufferMode::RBM_NORMAL)
    }

    fn pin(self, block: u32, mode: pg_sys::ReadBufferMode::Type) -> Buffer {
        // SAFETY: the relation is open.
        let buffer = unsafe {
            pg_sys::ReadBufferExtended(
                self.relation,
                pg_sys::ForkNumber::MAIN_FORKNUM,
                block,
                mode,
                self.strategy,
            )
        };
        Buffer {
            buffer,
            locked: false,
            exclusive: false,
        }
    }

    /// The page, locked for reading.
    pub fn share(self, block: u32) -> Buffer {
        self.read(block).lock(pg_sys::BUFFER_LOCK_SHARE)
    }

    /// The page, locked for reading, from the buffer where it was the last time if it still is there: that
    /// saves the look-up in the buffer table, which costs more than reading a posting list.
    #[inline]
    pub fn share_recent(self, block: u32, recent: &Cell<pg_sys::Buffer>) -> Buffer {
        let hint = recent.get();
        // SAFETY: the relation is open; a hint is checked by the server before it is used.
        let found = hint != 0
            && unsafe {
                #[cfg(feature = "pg15")]
                let file = (*self.relation).rd_node;
                #[cfg(not(feature = "pg15"))]
                let file = (*self.relation).rd_locator;
                pg_sys::ReadRecentBuffer(file, pg_sys::ForkNumber::MAIN_FORKNUM, block, hint)
            };
        if found {
            let buffer = Buffer {
                buffer: hint,
                locked: false,
                exclusive: false,
            };
            return buffer.lock(pg_sys::BUFFER_LOCK_SHARE);
        }
        let buffer = self.share(block);
        recent.set(buffer.buffer);
        buffer
    }

    /// The page, locked for writing.
    pub fn exclusive(self, block: u32) -> Buffer {
        let mut buffer = self.read(block).lock(pg_sys::BUFFER_LOCK_EXCLUSIVE);
        buffer.exclusive = true;
        buffer
    }

    /// A page whose content does not matter any more, locked for writing.
    pub fn reused(self, block: u32) -> Buffer {
        let mut buffer = self.pin(block, pg_sys::ReadBufferMode::RBM_ZERO_AND_LOCK);
        buffer.locked = true;
        buffer
    }

    /// A new page at the end, locked for writing.
    pub fn extended(self) -> Buffer {
        // SAFETY: the relation is open; extending needs its extension lock.
        unsafe {
            let lock = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
            ffi::LockRelationForExtension(self.relation, lock);
            let buffer = self.pin(
                pg_sys::InvalidBlockNumber,
                pg_sys::ReadBufferMode::RBM_NORMAL,
            );
            let buffer = buffer.lock(pg_sys::BUFFER_LOCK_EXCLUSIVE);
            pg_sys::UnlockRelationForExtension(self.relation, lock);
            buffer
        }
    }

    pub fn blocks(self) -> u32 {
        // SAFETY: the relation is open.
        unsafe {
            pg_sys::RelationGetNumberOfBlocksInFork(self.relation, pg_sys::ForkNumber::MAIN_FORKNUM)
        }
    }

    pub fn name(self) -> String {
        // SAFETY: the relation is open.
        unsafe {
            let name = &(*(*self.relation).rd_rel).relname;
            std::ffi::CStr::from_ptr(name.data.as_ptr())
                .to_string_lossy()
                .into_owned()
        }
    }

    /// Counts a scan in the statistics, as `pgstat_count_index_scan` does.
    pub fn count_scan(self) {
        // SAFETY: the relation is open; its counters are made when they are first needed.
        unsafe {
            let relation = &*self.relation;
            if relation.pgstat_info.is_null() {
                if !relation.pgstat_enabled {
                    return;
                }
                pg_sys::pgstat_assoc_relation(self.relation);
            }
            let info = &mut *(*self.relation).pgstat_info;
            #[cfg(feature = "pg15")]
            let counts = &mut info.t_counts.t_numscans;
            #[cfg(not(feature = "pg15"))]
            let counts = &mut info.counts.numscans;
            *counts += 1;
        }
    }
}
