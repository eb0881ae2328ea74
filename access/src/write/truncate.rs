//! Cutting free pages off the end of the index, as lazy_truncate_heap does with a table.

use base::Result;
use pgrx::pg_sys;
use sigfile::meta::FreeList;

use super::free_list::{list_pages, write_list};
use super::MergeLock;
use crate::meta;
use crate::page::META;
use crate::read::{in_use, read_list};
use pg::check_for_interrupts;

/// So many free pages at the end are worth a lock, or that share of all.
const WORTH: u32 = 1000;
const SHARE: u32 = 16;

/// Fewer are not worth it in any case.
const LEAST: u32 = 8;

/// How often the lock is asked for, and how long is waited in between, in microseconds: a second in all.
const ATTEMPTS: u32 = 20;
const PAUSE: std::ffi::c_long = 50_000;

const LOCK: pg_sys::LOCKMODE = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;

impl MergeLock<'_> {
    /// Puts what can be used again on one list, low blocks first, and cuts off what of it is at the end of the index,
    /// unless somebody uses the index all the time.
    ///
    /// Errors: damaged lists or descriptions; out of memory.
    pub fn truncate(&self) -> Result<()> {
        let index = self.index;
        let (meta, stock) = {
            // An insert may take from the stock at any time, so it is emptied first.
            let mut metapage = index.exclusive(META);
            let mut meta = meta::of_page(&metapage);
            let stock = std::mem::take(&mut meta.stock);
            if !stock.is_empty() {
                meta::store(&meta, &mut metapage);
            }
            (meta, stock)
        };
        let past: Vec<FreeList> = meta
            .free
            .iter()
            .copied()
            .filter(|l| self.is_past(l.horizon))
            .collect();
        if past.is_empty() {
            // There is no list that the stock could go on, and no room for another one, perhaps.
            let mut metapage = index.exclusive(META);
            let mut meta = meta::of_page(&metapage);
            meta.stock = stock;
            meta::store(&meta, &mut metapage);
            return Ok(());
        }
        let total = index.blocks();
        let mut used = in_use(index, &meta, total, false)?;
        let (mut free, mut of_lists) = (stock, Vec::new());
        free.retain(|&block| used.claim(block));
        for list in &past {
            let (blocks, pages) = read_list(index, list)?;
            // A block that is in use, listed twice, or not there is left out.
            free.extend(blocks.into_iter().filter(|&block| used.claim(block)));
            of_lists.extend(pages);
        }
        free.sort_unstable();
        let mut all = free.clone();
        all.extend(&of_lists);
        all.sort_unstable();
        let cut = all.iter().rev().zip((0..total).rev());
        let cut = total - cut.take_while(|(&block, last)| block == *last).count() as u32;
        let worth = total - cut >= LEAST.max(WORTH.min(total / SHARE));
        if past.len() < 2 && !worth && free.len() == past.first().map_or(0, |l| l.blocks as usize) {
            return Ok(());
        }
        // SAFETY: a state of this process. Where VACUUM works in parallel, nobody can take a lock that standbys have to
        // know of.
        let parallel = unsafe { pg_sys::IsInParallelMode() };
        let cut = if worth && !parallel { cut } else { total };
        past.iter().for_each(|list| self.log_reuse(list));
        // The new list stands on blocks of the old ones, none of which is a page of a list.
        let needed = list_pages(all.len());
        let own: Vec<u32> = free
            .iter()
            .copied()
            .filter(|&b| b < cut)
            .take(needed)
            .collect();
        let mut left: Vec<u32> = all.into_iter().filter(|&b| b < cut).collect();
        left.retain(|block| own.binary_search(block).is_err());
        if own.len() < list_pages(left.len()) {
            // Too few to write a list on: those of the stock belong to nothing until VACUUM comes the next time.
            return Ok(());
        }
        let mut pages = own.iter().rev().copied();
        let first = write_list(&left, META, || index.reused(pages.next().expect("counted")));
        // Blocks that were counted on in vain belong to nothing until VACUUM comes the next time.
        let mut metapage = index.exclusive(META);
        let mut meta = meta::of_page(&metapage);
        meta.free
            .retain(|list| past.iter().all(|p| p.first != list.first));
        if !left.is_empty() {
            let newest = past.iter().max_by_key(|list| list.horizon);
            meta.free.insert(
                0,
                FreeList {
                    horizon: newest.map_or(0, |list| list.horizon),
                    first,
                    blocks: left.len() as u32,
                    entered: newest.map_or(0, |list| list.entered),
                },
            );
        }
        meta::store(&meta, &mut metapage);
        drop(metapage);
        if cut < total && !self.cut(total, cut) {
            self.give_back((cut..total).collect())?;
        }
        Ok(())
    }

    /// Cuts the index off, if it still has as many blocks as before. False if somebody else uses it.
    fn cut(&self, total: u32, blocks: u32) -> bool {
        let index = self.index;
        // SAFETY: the index is open. The lock is given back before this returns.
        unsafe {
            let mut attempts = 0;
            while !pg_sys::ConditionalLockRelation(index.relation(), LOCK) {
                check_for_interrupts();
                attempts += 1;
                if attempts == ATTEMPTS {
                    return false;
                }
                pg_sys::pg_usleep(PAUSE);
            }
            let alone =
                index.blocks() == total && !pg_sys::LockHasWaitersRelation(index.relation(), LOCK);
            if alone {
                pg_sys::RelationTruncate(index.relation(), blocks);
            }
            pg_sys::UnlockRelation(index.relation(), LOCK);
            alone
        }
    }
}
