//! Chains of pages: words that need more than one page. Each page begins with the next one's block ([`META`] at the
//! end) and the number of words on this one, u32 each.

use super::{BlankPage, PageKind, PageLog, META, PAGE_WORDS};
use sigfile::words::{join, split};

/// Words that a page of a chain has room for.
pub const CHAIN_ROOM: usize = PAGE_WORDS - HEAD;

/// Words in front of them.
const HEAD: usize = 1;

/// A page of a chain to read.
pub struct ChainPage<'a> {
    /// Block of the next page, [`META`] for none.
    pub next: u32,
    /// The words on this page.
    pub words: &'a [u64],
}

impl<'a> ChainPage<'a> {
    /// `None` if the page says that it has more words than there is room for.
    pub fn new(content: &'a [u64]) -> Option<ChainPage<'a>> {
        let (next, n) = split(content[0]);
        let words = content[HEAD..].get(..n as usize)?;
        Some(ChainPage { next, words })
    }

    /// No page follows.
    pub fn is_last(&self) -> bool {
        self.next == META
    }
}

/// Fills a page of a chain. `words` are at most [`CHAIN_ROOM`].
pub fn fill(content: &mut [u64], next: u32, words: &[u64]) {
    content.fill(0);
    content[0] = join(next, words.len() as u32);
    content[HEAD..HEAD + words.len()].copy_from_slice(words);
}

/// Pages that a chain of so many words takes.
pub fn chain_pages(words: usize) -> usize {
    words.div_ceil(CHAIN_ROOM)
}

/// Writes words as a chain on pages that `page` gives; the page `next` follows, [`META`] for none. Returns the blocks.
pub fn write_chain<'r>(
    (log, kind, generation): (PageLog, PageKind, u64),
    words: &[u64],
    mut next: u32,
    mut page: impl FnMut() -> BlankPage<'r>,
) -> Vec<u32> {
    // The last page is written first, so that each page knows the next.
    let mut blocks = Vec::new();
    let pages: Vec<&[u64]> = words.chunks(CHAIN_ROOM).collect();
    for some in pages.into_iter().rev() {
        next = page().write(log, kind, generation, |content| fill(content, next, some));
        blocks.push(next);
    }
    blocks.reverse();
    blocks
}
