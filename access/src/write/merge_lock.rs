//! The merge lock: a heavyweight lock on the index, under the name of a tuple of its metapage, where none is.
//!
//! Under the name of the page, as GIN has it, the server would allow no other heavyweight lock while this one is held,
//! and until version 17 would look for no deadlock. But VACUUM cuts the index off under it, and a look into the catalog
//! takes a lock, too. Where it differs, that processes which work for one query have the page's lock to themselves but
//! not a tuple's, nothing is lost: what takes the merge lock never runs in a parallel worker beside another one that
//! does.

use crate::class::options::SigfileOptions;
use crate::meta;
use crate::page::chain::{chain_pages, fill, ChainPage, CHAIN_ROOM};
use crate::page::{BlankPage, PageKind, PageLog, SigfileIndex, SigfileTable, META};
use crate::read::{in_use, is_used, read_list};
use base::Result;
use pg::tid::Tid;
use pg::{check_for_interrupts, ffi};
use pgrx::pg_sys;
use sigfile::meta::{FreeList, MAX_FREE, MAX_STOCK};
use sigfile::words::{pack, unpack};
use sigfile::{Meta, Part};

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
            options: SigfileOptions::new(index),
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

// Free lists: blocks that can be used again.
//
// A replaced page keeps its content until no search can need it, as a deleted page of nbtree and GiST does (Lanin and
// Shasha, A symmetric concurrent B-tree algorithm, 1986: the drain technique). So each list has a horizon. Blocks are
// taken off its first page, and what is left keeps the horizon.

/// One block of so many is in stock.
const STOCKED: u32 = 64;

/// The horizon of a list whose blocks were replaced, as long as the log does not say when: no transaction comes after
/// it. It is on a page after a crash or an error between two records only.
const UNKNOWN: u64 = u64::MAX;

/// The block of the page of merges, and what writes its content.
pub type OtherPage<'a> = (u32, &'a dyn Fn(&mut [u64]));

/// Pages that a list of so many blocks takes.
pub fn list_pages(blocks: usize) -> usize {
    chain_pages(blocks.div_ceil(2))
}

/// Writes blocks on pages of a chain that ends with `next`. Returns the first page's block, or `next` without any.
///
/// Nothing interrupts it: what is written belongs to nothing until the metapage says so.
pub fn write_list<'r>(
    blocks: &[u32],
    mut next: u32,
    mut page: impl FnMut() -> BlankPage<'r>,
) -> u32 {
    for some in blocks.chunks(2 * CHAIN_ROOM).rev() {
        let words: Vec<u64> = pack(some).collect();
        let page = page();
        next = page.write(PageLog::Each, PageKind::Free, 0, |content| {
            fill(content, next, &words)
        });
    }
    next
}

impl<'r> MergeLock<'r> {
    /// The metapage, on which every list has a horizon.
    pub fn settled(&self) -> Meta {
        let meta = meta::read(self.index);
        if !meta.free.iter().any(|list| list.horizon == UNKNOWN) {
            return meta;
        }
        // All that the log has of it is older than the next transaction of today.
        meta::change(self.index, |meta| {
            let lists = meta.free.iter_mut();
            for list in lists.filter(|list| list.horizon == UNKNOWN) {
                list.horizon = next_transaction();
            }
        })
    }

    /// Takes up to `most` blocks that nobody can be reading any more, and one more if that leaves a page of a list
    /// empty. Fewer, if there are no more.
    ///
    /// A block that is in use all the same, or not there, is left out. The last can be so on a standby that was
    /// promoted, which never got a page that its primary lost in a crash.
    ///
    /// Errors: damaged lists; out of memory.
    pub fn take_free(&self, most: usize) -> Result<Vec<u32>> {
        let mut taken = Vec::new();
        while taken.len() < most {
            let meta = self.settled();
            let Some(at) = meta.free.iter().position(|l| self.is_past(l.horizon)) else {
                break;
            };
            taken.extend(self.take_of(&meta, at, most - taken.len())?);
        }
        Ok(taken)
    }

    /// Takes up to `most` blocks off the first page of a list, and that page, too, when it becomes empty.
    ///
    /// Errors: a damaged list; out of memory.
    fn take_of(&self, meta: &Meta, at: usize, most: usize) -> Result<Vec<u32>> {
        let index = self.index;
        let list = meta.free[at];
        let impossible = || {
            let what = "the list of free blocks is not as long as it ought to be";
            index.damaged(list.first, what)
        };
        self.log_reuse(&list);
        let mut metapage = index.exclusive(META);
        let mut now = meta::of_page(&metapage);
        let mut page = index.exclusive(list.first).expect(PageKind::Free, 0)?;
        let link = ChainPage::new(page.words()).ok_or_else(impossible)?;
        let next = link.next;
        let listed = unpack(link.words, 2 * link.words.len());
        let mut blocks: Vec<u32> = listed.filter(|&block| block != META).collect();
        let n = most.min(blocks.len());
        let left = blocks.split_off(n);
        let entry = now.free.get_mut(at).ok_or_else(impossible)?;
        entry.blocks = entry.blocks.checked_sub(n as u32).ok_or_else(impossible)?;
        let emptied = left.is_empty();
        if emptied {
            if (next == META) != (entry.blocks == 0) {
                return Err(impossible());
            }
            entry.first = next;
            if next == META {
                now.free.remove(at);
            }
        }
        metapage.change_both(&mut page, |words, list| {
            now.encode(words);
            if !emptied {
                let left: Vec<u64> = pack(&left).collect();
                fill(list, next, &left);
            }
        });
        drop(page);
        drop(metapage);
        let mut free = Vec::new();
        for block in blocks {
            if !is_used(index, &now, block)? {
                free.push(block);
            }
        }
        if emptied {
            free.push(list.first);
        }
        Ok(free)
    }

    /// Blocks that could be taken.
    pub fn reusable(&self, meta: &Meta) -> usize {
        let past = meta.free.iter().filter(|list| self.is_past(list.horizon));
        past.map(|list| list.blocks as usize).sum::<usize>()
    }

    /// New rows of a part from which on they are sealed.
    pub fn tail_limit(&self, meta: &Meta, part: Part) -> u64 {
        self.options.tail_limit(meta.geometry(part).stride).into()
    }

    /// Whether an old snapshot keeps replaced pages from being used again: those that were replaced more rows ago than
    /// two tails of a part have, or by this transaction itself, which keeps them to its end.
    pub fn is_starved(&self, meta: &Meta, part: Part) -> bool {
        let rows = 2 * self.tail_limit(meta, part);
        let now = meta.entered();
        // Where no transaction has begun since, nobody can tell, except of this transaction.
        let next = next_transaction();
        let own = own_transaction();
        let is_own = |list: &FreeList| own != 0 && own < list.horizon;
        let is_long = |list: &FreeList| now >= list.entered.saturating_add(rows);
        let old = |list: &&FreeList| is_own(list) || (list.horizon < next && is_long(list));
        let mut lists = meta.free.iter().filter(old);
        lists.any(|list| !self.is_past(list.horizon))
    }

    /// Has blocks in stock for the next pages of tails, which are added without the merge lock.
    ///
    /// Errors: damaged lists; out of memory.
    pub fn fill_stock(&self, meta: &Meta) -> Result<()> {
        // What is in stock is not used for anything else.
        let wanted = (self.index.blocks() / STOCKED).clamp(4, MAX_STOCK as u32) as usize;
        if meta.stock.len() > wanted / 2 {
            return Ok(());
        }
        // One more may come.
        let free = self.take_free(wanted - meta.stock.len() - 1)?;
        if !free.is_empty() {
            meta::change(self.index, |meta| meta.stock.extend(free));
        }
        Ok(())
    }

    /// A page to be written: a free one, or a new one at the end.
    ///
    /// Errors: damaged lists; out of memory.
    pub fn new_page(&self) -> Result<BlankPage<'r>> {
        Ok(self.index.page_for(self.take_free(1)?.pop()))
    }

    /// Whether no snapshot of this server is older than a horizon.
    pub fn is_past(&self, horizon: u64) -> bool {
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
    pub fn log_reuse(&self, list: &FreeList) {
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

    /// Changes the metapage, and lists blocks that were replaced by that: they can be used again when no snapshot
    /// is older. The list is on pages that `page` gives. `also` writes what belongs to the change to the page of
    /// merges.
    ///
    /// Errors: more than a metapage holds.
    pub fn replace(
        &self,
        mut retired: Vec<u32>,
        page: impl FnMut() -> BlankPage<'r>,
        change: impl FnOnce(&mut Meta),
        also: Option<OtherPage<'_>>,
    ) -> Result<()> {
        let index = self.index;
        // Low blocks are used first.
        retired.sort_unstable();
        let newest = meta::read(index).free.last().copied();
        let crowded = meta::read(index).free.len() == MAX_FREE;
        let joined = newest.filter(|_| crowded);
        let first = write_list(&retired, joined.map_or(META, |list| list.first), page);
        let mut metapage = index.exclusive(META);
        let mut meta = meta::of_page(&metapage);
        if !retired.is_empty() {
            // When too many lists wait for old snapshots, the newest has to wait longer: the older ones come free in
            // time.
            let more = joined.and_then(|_| meta.free.pop());
            meta.free.push(FreeList {
                horizon: UNKNOWN,
                first,
                blocks: retired.len() as u32 + more.map_or(0, |list| list.blocks),
                entered: meta.entered(),
            });
        }
        change(&mut meta);
        meta.check_size()?;
        match also {
            None => meta::store(&meta, &mut metapage),
            Some((block, write)) => {
                let mut other = index.exclusive(block).expect(PageKind::Merges, 0)?;
                metapage.change_both(&mut other, |words, content| {
                    meta.encode(words);
                    write(content);
                });
            }
        }
        // A process that has read the metapage before has a snapshot that is no younger, since nobody can read it while
        // this is asked. A standby may take a snapshot that knows of transactions begun since, and still find the old
        // metapage: what counts there is the order of the log. So it is asked after the change was logged, and a crash
        // in between leaves a list that nobody takes blocks of.
        if let Some(last) = meta.free.last_mut().filter(|_| !retired.is_empty()) {
            last.horizon = next_transaction();
            meta::store(&meta, &mut metapage);
        }
        Ok(())
    }

    /// Lists blocks that nobody has ever read, and nobody will.
    ///
    /// Errors: damaged lists; out of memory.
    pub fn give_back(&self, blocks: Vec<u32>) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        let mut pages = self.take_free(list_pages(blocks.len()))?;
        let index = self.index;
        let page = || index.page_for(pages.pop());
        self.replace(blocks, page, |_| (), None)
    }

    /// Frees blocks that belong to nothing: what a crash or an error leaves of a merge.
    ///
    /// The list of them stands on none of them. Nobody knows when they were read last, so they wait for old snapshots
    /// as all replaced blocks do.
    ///
    /// Errors: damaged lists or descriptions; out of memory.
    pub fn sweep(&self) -> Result<()> {
        let index = self.index;
        let (meta, total) = {
            // Tails grow while the metapage is locked exclusively: a page that is there by now, and belongs to a tail,
            // is known to the metapage.
            let metapage = index.share(META);
            (meta::of_page(&metapage), index.blocks())
        };
        let used = in_use(index, &meta, total, true)?;
        self.give_back(used.unclaimed().collect())
    }
}

/// 0 for a transaction that has changed nothing yet.
fn own_transaction() -> u64 {
    // SAFETY: a state of this process.
    unsafe { pg_sys::GetTopFullTransactionIdIfAny() }.value
}

fn next_transaction() -> u64 {
    // SAFETY: the server takes a lock of its own for reading.
    unsafe { pg_sys::ReadNextFullTransactionId() }.value
}

// Cutting free pages off the end of the index, as lazy_truncate_heap does with a table.

/// So many free pages at the end are worth a lock, or that share of all.
const WORTH: u32 = 1000;
const SHARE: u32 = 16;

/// Fewer are not worth it in any case.
const LEAST: u32 = 8;

/// How often the lock is asked for, and how long is waited in between, in microseconds: a second in all.
const ATTEMPTS: u32 = 20;
const PAUSE: std::ffi::c_long = 50_000;

const WHOLE: pg_sys::LOCKMODE = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;

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
            meta::change(index, |meta| meta.stock = stock);
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
            while !pg_sys::ConditionalLockRelation(index.relation(), WHOLE) {
                check_for_interrupts();
                attempts += 1;
                if attempts == ATTEMPTS {
                    return false;
                }
                pg_sys::pg_usleep(PAUSE);
            }
            let alone =
                index.blocks() == total && !pg_sys::LockHasWaitersRelation(index.relation(), WHOLE);
            if alone {
                pg_sys::RelationTruncate(index.relation(), blocks);
            }
            pg_sys::UnlockRelation(index.relation(), WHOLE);
            alone
        }
    }
}
