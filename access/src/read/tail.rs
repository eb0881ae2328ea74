//! The tail: pages of rows in the order of their arrival, and the walk over them.

use base::{Error, Result};
use pgrx::pg_sys;
use sigfile::meta::TailBlock;
use sigfile::{Geometry, Meta, Part, RowPage};

use super::check_tids;
use crate::page::{ExclusiveLock, PageGuard, PageKind, PageLock, SharedLock, SigfileIndex};
use pg::check_for_interrupts;

/// A page of a tail, locked.
pub struct TailPage<'r, L: PageLock = SharedLock> {
    page: PageGuard<'r, L>,
    geometry: Geometry,
}

impl<'r, L: PageLock> TailPage<'r, L> {
    /// Locks a page that a metapage has listed. `geometry` is that of its part.
    ///
    /// Errors: it is no tail page; a snapshot that is too old.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan.
    unsafe fn read(
        index: SigfileIndex<'r>,
        geometry: Geometry,
        tail: TailBlock,
        snapshot: pg_sys::Snapshot,
    ) -> Result<Self> {
        let page = index.locked(tail.block);
        // The snapshot comes before the kind: a page that was too old to be kept may be used for something else.
        // SAFETY: the caller knows that the snapshot is there.
        unsafe { page.test_old_snapshot(snapshot) };
        let page = page.expect(PageKind::Tail, tail.generation)?;
        Ok(TailPage { page, geometry })
    }

    /// The rows that are on the page now.
    ///
    /// Errors: a damaged page. Rows themselves are not looked at.
    pub fn rows(&self) -> Result<RowPage<'_>> {
        RowPage::growing(self.geometry, self.page.words()).map_err(|e| self.locate(e))
    }

    /// The rows that are on the page now, everything on it checked: what is copied goes through here.
    ///
    /// Errors: a damaged page or row.
    pub fn checked_rows(&self) -> Result<RowPage<'_>> {
        let rows = self.rows()?;
        rows.check().map_err(|e| self.locate(e))?;
        check_tids(&rows).map_err(|e| self.locate(e))?;
        Ok(rows)
    }

    /// The number of rows that are not dead.
    ///
    /// Errors: a damaged page.
    pub fn live_rows(&self) -> Result<u64> {
        let rows = self.rows()?;
        Ok((0..rows.len()).filter(|&i| rows.tid(i) != 0).count() as u64)
    }

    /// The content of the page.
    pub fn words(&self) -> &[u64] {
        self.page.words()
    }

    /// What the core says of the page, with the index and the block.
    #[cold]
    pub fn locate(&self, error: Error) -> Error {
        let block = self.page.block();
        self.page.index().locate(error.on_page(0), &[block])
    }

    /// Lets go of the page. Returns its block.
    pub fn release(self) -> u32 {
        self.page.block()
    }

    /// The page without what is known of it.
    pub fn into_page(self) -> PageGuard<'r, L> {
        self.page
    }
}

/// Pages of a tail, and how rows lie on them.
#[derive(Clone, Debug)]
pub struct TailBlocks(Vec<TailBlock>, Geometry);

impl TailBlocks {
    /// All pages that a metapage has listed for a part.
    pub fn new(meta: &Meta, part: Part) -> TailBlocks {
        TailBlocks(meta.tail_blocks(part).collect(), meta.geometry(part))
    }

    /// The first `n` of them.
    pub fn beginning(meta: &Meta, part: Part, n: usize) -> TailBlocks {
        TailBlocks(
            meta.tail_blocks(part).take(n).collect(),
            meta.geometry(part),
        )
    }

    /// The last of them, if there is one.
    pub fn last(&self) -> TailBlocks {
        TailBlocks(self.0.last().copied().into_iter().collect(), self.1)
    }

    /// The number of pages.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// A page by its number, to be read.
    ///
    /// Errors: it is no such page; a snapshot that is too old.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan.
    pub unsafe fn read<'r>(
        &self,
        index: SigfileIndex<'r>,
        number: usize,
        snapshot: pg_sys::Snapshot,
    ) -> Result<TailPage<'r>> {
        // SAFETY: the caller knows that the snapshot is there.
        unsafe { TailPage::read(index, self.1, self.0[number], snapshot) }
    }

    /// The pages, locked one after the other: who goes on has let go of the one before. Between two pages it looks for
    /// interrupts.
    ///
    /// Errors: a page that is no tail page; a snapshot that is too old.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan, which lasts longer than the walk.
    unsafe fn pages<'a, L: PageLock + 'a>(
        &'a self,
        index: SigfileIndex<'a>,
        snapshot: pg_sys::Snapshot,
    ) -> impl Iterator<Item = Result<TailPage<'a, L>>> {
        self.0.iter().map(move |&block| {
            check_for_interrupts();
            // SAFETY: the caller knows that the snapshot is there.
            unsafe { TailPage::read(index, self.1, block, snapshot) }
        })
    }

    /// The pages, to be read outside of a scan, one after the other.
    ///
    /// Errors: a page that is no tail page.
    pub fn shared<'a>(
        &'a self,
        index: SigfileIndex<'a>,
    ) -> impl Iterator<Item = Result<TailPage<'a>>> {
        // SAFETY: there is no snapshot.
        unsafe { self.pages(index, std::ptr::null_mut()) }
    }

    /// The same for a reader with a snapshot.
    ///
    /// Errors: a page that is no tail page; a snapshot that is too old.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan, which lasts longer than the walk.
    pub unsafe fn shared_with_snapshot<'a>(
        &'a self,
        index: SigfileIndex<'a>,
        snapshot: pg_sys::Snapshot,
    ) -> impl Iterator<Item = Result<TailPage<'a>>> {
        // SAFETY: the caller knows that the snapshot is there.
        unsafe { self.pages(index, snapshot) }
    }

    /// The pages, to be changed, one after the other.
    ///
    /// Errors: a page that is no tail page.
    pub fn exclusive<'a>(
        &'a self,
        index: SigfileIndex<'a>,
    ) -> impl Iterator<Item = Result<TailPage<'a, ExclusiveLock>>> {
        // SAFETY: there is no snapshot.
        unsafe { self.pages(index, std::ptr::null_mut()) }
    }
}
