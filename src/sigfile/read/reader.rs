//! The core's view of a segment's pages.

use bloom_ident_core::sigfile::{Pages, RowPage};
use bloom_ident_core::{Error, Result};
use pgrx::pg_sys;

use super::SegmentDescription;
use crate::pg::tid;
use crate::pg::{check_for_interrupts, interrupts_are_pending};
use crate::sigfile::page::{self, Buffer, PageKind, SigfileIndex};

/// Reads pages of a segment, holding the last one.
pub struct SegmentReader<'a> {
    index: SigfileIndex,
    loaded: &'a SegmentDescription,
    /// NULL for none.
    snapshot: pg_sys::Snapshot,
    row_pages: u32,
    current: Option<(u32, Buffer)>,
}

impl<'a> SegmentReader<'a> {
    pub fn new(index: SigfileIndex, loaded: &'a SegmentDescription) -> Self {
        SegmentReader {
            index,
            loaded,
            snapshot: std::ptr::null_mut(),
            row_pages: loaded.segment.row_pages(),
            current: None,
        }
    }

    /// For who reads with this snapshot, which lives as long as the reader.
    pub fn with_snapshot(mut self, snapshot: pg_sys::Snapshot) -> Self {
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
        check_places(&page).map_err(|e| index.locate(e.on_page(number), &loaded.blocks))?;
        Ok(page)
    }
}

/// Errors: a place where no row can be.
pub fn check_places(page: &RowPage<'_>) -> Result<()> {
    let mut places = (0..page.len()).map(|i| page.tid(i));
    match places.find(|&place| place != 0 && !tid::is_possible(place)) {
        Some(place) => Err(Error::damaged(tid::describe(place))),
        None => Ok(()),
    }
}

impl Pages for SegmentReader<'_> {
    #[inline]
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        if self.current.as_ref().is_none_or(|(n, _)| *n != number) {
            self.current = None;
            let kind = if number < self.row_pages {
                PageKind::Rows
            } else {
                PageKind::Postings
            };
            let block = self.loaded.blocks[number as usize];
            let recent = &self.loaded.recent[number as usize];
            let buffer = self.index.share_recent(block, recent);
            // before its kind: a page that was too old to be kept may be another one's
            buffer.test_old_snapshot(self.index, self.snapshot);
            let buffer = buffer.expect(self.index, kind, self.loaded.generation)?;
            self.current = Some((number, buffer));
        }
        Ok(self.current.as_ref().expect("just read").1.words())
    }

    #[inline]
    fn prefetch(&mut self, number: u32, words: &[usize]) {
        page::prefetch(&self.loaded.recent[number as usize], words);
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
