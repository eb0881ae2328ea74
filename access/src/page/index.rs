//! The index whose pages are read and written.

use super::{BlankPage, ExclusiveLock, PageGuard, PageLock, SharedLock};
use base::{Error, ErrorKind};
use pg::ffi;
use pg::relation::{self, has_block, OpenRelation};
use pg::tid::Tid;
use pg::values::text::readable;
use pgrx::pg_sys;
use std::cell::Cell;
use std::marker::PhantomData;

/// Blocks whose buffers are noted, beside those of segments.
const MOST_HINTS: usize = 256;

pg::session_state! {
    /// The buffer where a block of a shared index was last, 0 if it is not known: for metapages and the pages of tails.
    /// Blocks with the same place here displace each other; the server sees which block a buffer has.
    static HINTS: [Cell<pg_sys::Buffer>; MOST_HINTS] = [const { Cell::new(0) }; MOST_HINTS];
    "buffers of pages" by "index and block" until "another block has the buffer, or the place here";
}

/// The table of a sigfile index, open for `'r`, or nothing where it is not known.
#[derive(Clone, Copy)]
pub struct SigfileTable<'r> {
    /// NULL for none.
    relation: pg_sys::Relation,
    open: PhantomData<&'r pg_sys::RelationData>,
}

impl<'r> SigfileTable<'r> {
    /// Not known which.
    pub const UNKNOWN: SigfileTable<'static> = SigfileTable {
        relation: std::ptr::null_mut(),
        open: PhantomData,
    };

    /// # Safety
    /// `relation` is NULL, or a table that stays open for `'r`.
    pub unsafe fn new(relation: pg_sys::Relation) -> SigfileTable<'r> {
        SigfileTable {
            relation,
            open: PhantomData,
        }
    }

    /// The server's pointer, which is valid for `'r`, or NULL.
    pub fn relation(self) -> pg_sys::Relation {
        self.relation
    }

    /// Whether a row of the table can have this tid.
    #[inline]
    pub fn can_have(self, tid: Tid) -> bool {
        // SAFETY: the relation is NULL, or open.
        tid.is_possible() && unsafe { tid.is_within(self.relation) }
    }
}

/// A sigfile index that is open for `'r`, and by which strategy its buffers are used.
#[derive(Clone, Copy)]
pub struct SigfileIndex<'r> {
    relation: pg_sys::Relation,
    /// NULL for the default.
    strategy: pg_sys::BufferAccessStrategy,
    open: PhantomData<&'r pg_sys::RelationData>,
}

impl<'r> SigfileIndex<'r> {
    /// # Safety
    /// `relation` is a sigfile index, and stays open for `'r`.
    pub unsafe fn new(relation: pg_sys::Relation) -> SigfileIndex<'r> {
        SigfileIndex {
            relation,
            strategy: std::ptr::null_mut(),
            open: PhantomData,
        }
    }

    /// # Safety
    /// `relation` is a sigfile index.
    pub unsafe fn of(relation: &'r OpenRelation) -> SigfileIndex<'r> {
        // SAFETY: the caller knows that it is a sigfile index; it is open as long as it is borrowed.
        unsafe { SigfileIndex::new(relation.pointer()) }
    }

    /// The same index, read by another strategy.
    ///
    /// # Safety
    /// `strategy` is NULL, or one of the server's that is there for `'r`.
    pub unsafe fn with_strategy(self, strategy: pg_sys::BufferAccessStrategy) -> SigfileIndex<'r> {
        SigfileIndex { strategy, ..self }
    }

    /// The server's pointer, which is valid for `'r`.
    pub fn relation(self) -> pg_sys::Relation {
        self.relation
    }

    /// Errors: a block that the index does not have.
    fn read(self, block: u32) -> pg_sys::Buffer {
        // SAFETY: the relation is open.
        if !unsafe { has_block(self.relation, block) } {
            let blocks = self.blocks();
            let what = format!("the index has {blocks} blocks only");
            pg::error::raise(&self.damaged(block, &what));
        }
        self.pin(block, pg_sys::ReadBufferMode::RBM_NORMAL)
    }

    fn pin(self, block: u32, mode: pg_sys::ReadBufferMode::Type) -> pg_sys::Buffer {
        let main = pg_sys::ForkNumber::MAIN_FORKNUM;
        // SAFETY: the relation is open, and the strategy is there as long.
        unsafe { ffi::ReadBufferExtended(self.relation, main, block, mode, self.strategy) }
    }

    /// The page, locked as the result says.
    ///
    /// Errors: a block that the index does not have.
    pub fn locked<L: PageLock>(self, block: u32) -> PageGuard<'r, L> {
        let Some(hint) = self.hint(block) else {
            // SAFETY: the buffer has just been pinned, and this process has not locked it.
            return unsafe { PageGuard::lock(self, self.read(block)) };
        };
        HINTS.with(|hints| self.locked_recent(block, &hints[hint]))
    }

    /// Where [`HINTS`] has the buffer of a block, if it has been noted. Not for a temporary index: the numbers of its
    /// buffers mean something else.
    fn hint(self, block: u32) -> Option<usize> {
        // SAFETY: the relation is open.
        let relation = unsafe { &*self.relation };
        let number = relation.rd_id.to_u32().wrapping_mul(31);
        let kept = !relation.rd_islocaltemp && self.strategy.is_null();
        kept.then_some(number.wrapping_add(block) as usize % MOST_HINTS)
    }

    /// The page, locked for reading.
    ///
    /// Errors: a block that the index does not have.
    pub fn share(self, block: u32) -> PageGuard<'r, SharedLock> {
        self.locked(block)
    }

    /// The page, locked as the result says, from the buffer where it was the last time if it still is there. That saves
    /// the look-up in the buffer table, which costs more than reading a posting list.
    ///
    /// Errors: a block that the index does not have.
    #[inline]
    pub fn locked_recent<L: PageLock>(
        self,
        block: u32,
        recent: &Cell<pg_sys::Buffer>,
    ) -> PageGuard<'r, L> {
        let hint = recent.get();
        // SAFETY: the relation is open; the server checks a hint before it is used, and this process has not locked the
        // page. A hint was noted for this relation, or for another one whose buffers are shared like its own.
        unsafe {
            if hint != 0 && ffi::lock_recent(self.relation, block, hint, L::MODE as i32) {
                return PageGuard::locked(self, hint);
            }
            let page = PageGuard::lock(self, self.read(block));
            recent.set(page.buffer());
            page
        }
    }

    /// The page, locked for writing.
    ///
    /// Errors: a block that the index does not have.
    pub fn exclusive(self, block: u32) -> PageGuard<'r, ExclusiveLock> {
        self.locked(block)
    }

    /// A page to be written: a free one if there is one, or a new one.
    pub fn page_for(self, free: Option<u32>) -> BlankPage<'r> {
        match free {
            Some(block) => self.reused(block),
            None => self.extended(),
        }
    }

    /// A page of the index whose content does not matter any more.
    pub fn reused(self, block: u32) -> BlankPage<'r> {
        let buffer = self.pin(block, pg_sys::ReadBufferMode::RBM_ZERO_AND_LOCK);
        // SAFETY: in this mode the server pins the buffer and locks it exclusively.
        unsafe { PageGuard::locked(self, buffer) }.blank()
    }

    /// A new page at the end.
    pub fn extended(self) -> BlankPage<'r> {
        let lock = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
        let normal = pg_sys::ReadBufferMode::RBM_NORMAL;
        // SAFETY: the relation is open; it is extended under its extension lock, which is held until the new buffer is
        // locked.
        unsafe {
            ffi::LockRelationForExtension(self.relation, lock);
            let buffer = self.pin(pg_sys::InvalidBlockNumber, normal);
            let page = PageGuard::lock(self, buffer);
            pg_sys::UnlockRelationForExtension(self.relation, lock);
            page.blank()
        }
    }

    /// The number of blocks that the index has now.
    pub fn blocks(self) -> u32 {
        // SAFETY: the relation is open.
        unsafe { relation::blocks(self.relation) }
    }

    /// The name of the index, for messages.
    pub fn name(self) -> String {
        // SAFETY: the relation is open; a name ends with a zero.
        unsafe {
            let name = &(*(*self.relation).rd_rel).relname;
            readable(std::ffi::CStr::from_ptr(name.data.as_ptr()).to_bytes())
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

// Errors over damaged pages.

impl SigfileIndex<'_> {
    /// The error over a page that no code of ours can have written so; `what` is half a sentence.
    #[cold]
    pub fn damaged(self, block: u32, what: &str) -> Error {
        let message = format!("index \"{}\" is damaged at block {block}", self.name());
        broken(message, what)
    }

    /// The same where it is not known which page it is.
    #[cold]
    pub fn unsound(self, what: &str) -> Error {
        broken(format!("index \"{}\" is damaged", self.name()), what)
    }

    /// An error of the core's as one about the index, and the block. `blocks` are those of the segment's pages. Errors
    /// of other kinds stay as they are.
    #[cold]
    pub fn locate(self, error: Error, blocks: &[u32]) -> Error {
        if error.kind() != ErrorKind::Corrupted || error.hint_text().is_some() {
            return error;
        }
        let block = error.page().and_then(|page| blocks.get(page as usize));
        match block {
            Some(&block) => self.damaged(block, error.message()),
            None => self.unsound(error.message()),
        }
    }
}

#[cold]
fn broken(message: String, what: &str) -> Error {
    let mut detail: String = what.chars().take(1).flat_map(char::to_uppercase).collect();
    detail.extend(what.chars().skip(1).chain(['.']));
    Error::new(ErrorKind::Corrupted, message)
        .detail(detail)
        .hint("Rebuild the index with REINDEX.")
}
