//! Rows of some neighbouring pages, copied so that they are side by side in memory.

use std::ops::Range;

use crate::pages::Pages;
use crate::segment::Segment;
use base::Result;

/// Some rows of a segment, side by side.
#[derive(Default)]
pub(super) struct RowBlock {
    pub(super) words: Vec<u64>,
    pub(super) popcounts: Vec<u32>,
    pub(super) tids: Vec<u64>,
}

impl RowBlock {
    /// Errors: a damaged page; out of memory.
    pub(super) fn read(
        &mut self,
        segment: &Segment,
        numbers: Range<u32>,
        pages: &mut impl Pages,
    ) -> Result<()> {
        self.words.clear();
        self.popcounts.clear();
        self.tids.clear();
        for number in numbers {
            let page = segment.row_page(number, pages.page(number)?)?;
            segment.check_popcounts(number, &page, 0, page.len())?;
            self.words.extend_from_slice(page.words(0, page.len()));
            self.popcounts.extend_from_slice(page.popcounts());
            self.tids.extend((0..page.len()).map(|i| page.tid(i)));
        }
        pages.release();
        Ok(())
    }
}
