//! Blocks to be used again.

use bloom_ident_core::Result;
use pgrx::pg_sys;

use super::publish::needs_wal;
use super::{BlockPool, MergeLock, MergeSources, UsedUpLists};
use crate::pg::ffi;
use crate::sigfile::meta::{FreeList, Meta, Part, MAX_FREE};
use crate::sigfile::page::{PageLog, META};
use crate::sigfile::read::{in_use, read_list};

impl MergeLock {
    /// Blocks that nobody can be reading any more. Lists are used up as a whole: what a rewriting leaves of
    /// them is listed anew, as are the pages of the lists. When too many lists wait for old
    /// snapshots, they are joined, to wait together. A block that is in use, listed twice, or not there is left out: the last can be so
    /// on a standby that was promoted, which never got a page that its primary lost in a crash.
    ///
    /// Errors: damaged lists or descriptions; out of memory.
    pub fn reusable(&self, meta: &Meta, log: PageLog) -> Result<(BlockPool, UsedUpLists)> {
        let index = self.index;
        let mut pool = BlockPool {
            index,
            log,
            free: Vec::new(),
        };
        let mut consumed = UsedUpLists::default();
        // what tails have got since is in none of the lists
        let mut used = in_use(index, meta, index.blocks())?;
        let crowded = meta.free.len() + 2 > MAX_FREE;
        for (i, list) in meta.free.iter().enumerate() {
            let removable = self.is_past(list.horizon);
            // the older half keeps its horizons, and so comes free in time
            let joined = crowded && i >= MAX_FREE / 2;
            if !removable && !joined {
                continue;
            }
            let (mut blocks, pages) = read_list(index, list)?;
            blocks.retain(|&block| used.claim(block));
            if removable {
                self.log_reuse(list);
                pool.free.extend(blocks);
            } else {
                consumed.blocks.extend(blocks);
            }
            consumed.blocks.extend(pages);
            consumed.lists.push(list.first);
        }
        // low blocks first: `take` pops
        pool.free.sort_unstable_by(|a, b| b.cmp(a));
        Ok((pool, consumed))
    }

    /// No snapshot of this server is older.
    fn is_past(&self, horizon: u64) -> bool {
        let horizon = pg_sys::FullTransactionId { value: horizon };
        // SAFETY: the heap is open, or NULL, which asks for the oldest of all databases.
        unsafe {
            // for a temporary table only the session's own transaction would count, not its cursors
            let local = (*self.index.relation).rd_islocaltemp;
            let heap = if local {
                std::ptr::null_mut()
            } else {
                self.heap
            };
            pg_sys::GlobalVisCheckRemovableFullXid(heap, horizon)
        }
    }

    /// Tells standbys to cancel what still reads pages about to be used again, by the record that GiST
    /// has for the purpose.
    fn log_reuse(&self, list: &FreeList) {
        // SAFETY: the relation is open.
        let needs_log = unsafe { needs_wal(self.index.relation) };
        // SAFETY: a setting of the server.
        let standbys = unsafe { pg_sys::wal_level } >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        if !needs_log || !standbys {
            return;
        }
        let horizon = pg_sys::FullTransactionId {
            value: list.horizon,
        };
        // SAFETY: declared as PostgreSQL does; both relations are open.
        unsafe {
            #[cfg(feature = "pg15")]
            ffi::gistXLogPageReuse(self.index.relation, list.first, horizon);
            #[cfg(not(feature = "pg15"))]
            ffi::gistXLogPageReuse(self.index.relation, self.heap, list.first, horizon);
        }
    }

    /// Frees blocks that belong to nothing: what a crash or an error leaves of a rewriting.
    ///
    /// Errors: damaged lists or descriptions; out of memory.
    pub fn sweep(&self) -> Result<()> {
        let index = self.index;
        let (meta, total) = {
            // tails grow under the lock of the metapage
            let buffer = index.share(META);
            (Meta::decode(index, &buffer), index.blocks())
        };
        let mut used = in_use(index, &meta, total)?;
        for list in &meta.free {
            for block in read_list(index, list)?.0 {
                used.claim(block);
            }
        }
        let orphans: Vec<u32> = used.unclaimed().collect();
        if orphans.is_empty() || meta.free.len() + 1 >= MAX_FREE {
            return Ok(());
        }
        let pool = BlockPool {
            index,
            log: PageLog::Each,
            free: Vec::new(),
        };
        let nothing = MergeSources {
            part: Part::Signatures,
            segments: Vec::new(),
            tail: 0,
        };
        self.publish(pool, &[], &nothing, &UsedUpLists::default(), orphans);
        Ok(())
    }
}
