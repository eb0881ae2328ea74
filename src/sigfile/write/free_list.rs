//! Free lists: which blocks can be used again, and which belong to nothing.
//!
//! A replaced page keeps its content until no search can need it, as a deleted page of nbtree and GiST does (Lanin and
//! Shasha, A symmetric concurrent B-tree algorithm, 1986: the drain technique).

use bloom_ident_core::sigfile::meta::{FreeList, MAX_FREE};
use bloom_ident_core::sigfile::{Meta, Part};
use bloom_ident_core::Result;
use pgrx::pg_sys;

use super::publish::needs_wal;
use super::{BlockPool, MergeLock, MergeSources, UsedUpLists};
use crate::pg::ffi;
use crate::sigfile::meta;
use crate::sigfile::page::{PageLog, META};
use crate::sigfile::read::{in_use, read_list};

impl<'r> MergeLock<'r> {
    /// Blocks that nobody can be reading any more. Lists are used up as a whole: what a rewriting leaves of
    /// them is listed anew, as are the pages of the lists. When too many lists wait for old
    /// snapshots, they are joined, to wait together. A block that is in use, listed twice, or not there is left out. The
    /// last can be so on a standby that was promoted, which never got a page that its primary lost in a crash.
    ///
    /// These blocks are not for tail pages: inserts lengthen a tail without the merge lock, and see [`PageKind::Tail`](crate::sigfile::page::PageKind::Tail).
    ///
    /// Errors: damaged lists or descriptions; out of memory.
    pub fn reusable(&self, meta: &Meta, log: PageLog) -> Result<(BlockPool<'r>, UsedUpLists)> {
        let index = self.index;
        let mut pool = BlockPool::of_new_pages(index, log);
        let mut consumed = UsedUpLists::default();
        // Pages that tails have got since are in none of the lists.
        let mut used = in_use(index, meta, index.blocks())?;
        let crowded = meta.free.len() + 2 > MAX_FREE;
        for (i, list) in meta.free.iter().enumerate() {
            let removable = self.is_past(list.horizon);
            // The older half keeps its horizons, and so comes free in time.
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
        // Low blocks are used first: `take` begins at the end.
        pool.free.sort_unstable_by(|a, b| b.cmp(a));
        Ok((pool, consumed))
    }

    /// Whether no snapshot of this server is older than a horizon.
    fn is_past(&self, horizon: u64) -> bool {
        let horizon = pg_sys::FullTransactionId { value: horizon };
        // SAFETY: the index is open. The table is open, or NULL, which asks for the oldest snapshot of all databases.
        unsafe {
            // For a temporary table only the session's own transaction would count, and not its cursors.
            let local = (*self.index.relation()).rd_islocaltemp;
            let heap = if local {
                std::ptr::null_mut()
            } else {
                self.table.relation()
            };
            pg_sys::GlobalVisCheckRemovableFullXid(heap, horizon)
        }
    }

    /// Tells standbys to cancel what still reads pages about to be used again, by the record that GiST
    /// has for the purpose.
    fn log_reuse(&self, list: &FreeList) {
        let index = self.index;
        // SAFETY: a setting of the server.
        let standbys = unsafe { pg_sys::wal_level } >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        if !needs_wal(index) || !standbys {
            return;
        }
        let horizon = pg_sys::FullTransactionId {
            value: list.horizon,
        };
        // SAFETY: the index is open, and the table is, or NULL; the record is for any block of an index.
        unsafe {
            #[cfg(feature = "pg15")]
            ffi::gistXLogPageReuse(index.relation(), list.first, horizon);
            #[cfg(not(feature = "pg15"))]
            ffi::gistXLogPageReuse(index.relation(), self.table.relation(), list.first, horizon);
        }
    }

    /// Frees blocks that belong to nothing: what a crash or an error leaves of a rewriting.
    ///
    /// The list of them is written past the orphans, on new pages at the end of the index, and on none of them. It names
    /// them all; and nobody knows when they were read last, so they wait for old snapshots as all retired blocks do.
    ///
    /// Errors: damaged lists or descriptions; out of memory.
    pub fn sweep(&self) -> Result<()> {
        let index = self.index;
        let (meta, total) = {
            // Tails grow while the metapage is locked exclusively: a page that is there by now, and belongs to a tail, is
            // known to the metapage.
            let metapage = index.share(META);
            (meta::of_page(&metapage), index.blocks())
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
        let pool = BlockPool::of_new_pages(index, PageLog::Each);
        let nothing = MergeSources {
            part: Part::Signatures,
            segments: Vec::new(),
            tail: 0,
        };
        self.publish(pool, &[], &nothing, &UsedUpLists::default(), orphans);
        Ok(())
    }
}
