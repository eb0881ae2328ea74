//! Where the pages of a segment come from.

use base::Result;

/// Pages of one segment, by number: its row pages come first, its posting pages behind them.
pub trait Pages {
    /// The page's content, until the next call: as many words as the geometry says.
    ///
    /// Errors: a page that is not one of the segment.
    fn page(&mut self, number: u32) -> Result<&[u64]>;

    /// The page will soon be asked for, and what is near these words of it: pages of a large segment are in no
    /// processor's cache, and several can be on their way at once.
    fn prefetch(&mut self, _number: u32, _words: &[usize]) {}

    /// A word of the page as it may be, without asking for the page: to tell what of it to prefetch, and for nothing
    /// else. `None` where it is not known where the page is.
    fn glimpse(&self, _number: u32, _word: usize) -> Option<u64> {
        None
    }

    /// A turn for the caller, at every step that may take more than some microseconds. No page is needed until the next
    /// call.
    fn tick(&mut self) {}

    /// No page is needed until the next call.
    fn release(&mut self) {}
}
