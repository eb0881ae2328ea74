//! The segment reader: the core's view of the pages of a segment.

use base::{Error, Result};
use pgrx::pg_sys;
use sigfile::{Pages, RowPage};

use super::SegmentDescription;
use crate::page::{self, PageGuard, PageKind, SharedLock, SigfileIndex};
use pg::tid::Tid;
use pg::{check_for_interrupts, interrupts_are_pending};

/// Reads pages of a segment, holding the last one.
pub struct SegmentReader<'a> {
    index: SigfileIndex<'a>,
    loaded: &'a SegmentDescription,
    /// NULL for none.
    snapshot: pg_sys::Snapshot,
    row_pages: u32,
    current: Option<(u32, PageGuard<'a, SharedLock>)>,
}

impl<'a> SegmentReader<'a> {
    /// A reader of a segment of the index.
    pub fn new(index: SigfileIndex<'a>, loaded: &'a SegmentDescription) -> Self {
        SegmentReader {
            index,
            loaded,
            snapshot: std::ptr::null_mut(),
            row_pages: loaded.segment.row_pages(),
            current: None,
        }
    }

    /// For a reader with this snapshot.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan, which lasts longer than the reader.
    pub unsafe fn with_snapshot(mut self, snapshot: pg_sys::Snapshot) -> Self {
        self.snapshot = snapshot;
        self
    }

    /// What the core says of a page, with the index and the block.
    #[cold]
    pub fn locate(&self, error: Error) -> Error {
        self.index.locate(error, &self.loaded.blocks)
    }

    /// A row page, its number of rows as it ought to be.
    ///
    /// Errors: a damaged page.
    #[inline]
    pub fn rows(&mut self, number: u32) -> Result<RowPage<'_>> {
        let (index, loaded) = (self.index, self.loaded);
        loaded
            .segment
            .row_page(number, self.page(number)?)
            .map_err(|e| index.locate(e, &loaded.blocks))
    }

    /// A row page, everything on it checked: what is copied goes through here.
    ///
    /// Errors: a damaged page.
    pub fn checked(&mut self, number: u32) -> Result<RowPage<'_>> {
        let (index, loaded) = (self.index, self.loaded);
        let words = self.page(number)?;
        let checked = loaded.segment.check_row_page(number, words);
        let page = checked.map_err(|e| index.locate(e, &loaded.blocks))?;
        check_tids(&page).map_err(|e| index.locate(e.on_page(number), &loaded.blocks))?;
        Ok(page)
    }
}

/// Looks at the tids of all rows that are not dead.
///
/// Errors: a tid that no row can have.
pub fn check_tids(page: &RowPage<'_>) -> Result<()> {
    let mut tids = (0..page.len()).map(|i| Tid::of_stored(page.tid(i)));
    match tids.find(|&tid| tid.stored() != 0 && !tid.is_possible()) {
        Some(tid) => Err(Error::damaged(tid.describe_impossible())),
        None => Ok(()),
    }
}

impl Pages for SegmentReader<'_> {
    #[inline]
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        if self.current.as_ref().is_none_or(|(n, _)| *n != number) {
            self.current = None;
            let kind = PageKind::of_segment_page(number, self.row_pages);
            let block = self.loaded.blocks[number as usize];
            let recent = &self.loaded.recent[number as usize];
            let page = self.index.share_recent(block, recent);
            // The snapshot comes before the kind: a page that was too old to be kept may be used for something else.
            // SAFETY: with_snapshot() was promised that the snapshot is there.
            unsafe { page.test_old_snapshot(self.snapshot) };
            let page = page.expect(kind, self.loaded.generation)?;
            self.current = Some((number, page));
        }
        Ok(self.current.as_ref().expect("just read").1.words())
    }

    #[inline]
    fn prefetch(&mut self, number: u32, words: &[usize]) {
        page::prefetch(&self.loaded.recent[number as usize], words);
    }

    #[inline]
    fn glimpse(&self, number: u32, word: usize) -> Option<u64> {
        page::glimpse(&self.loaded.recent[number as usize], word)
    }

    fn release(&mut self) {
        self.current = None;
    }

    /// Interrupts are held back as long as a page is locked.
    #[inline]
    fn tick(&mut self) {
        if interrupts_are_pending() {
            self.current = None;
            check_for_interrupts();
        }
    }
}
