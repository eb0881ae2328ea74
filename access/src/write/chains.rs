//! Chains of words on new pages.

use crate::page::chain::{fill, CHAIN_ROOM};
use crate::page::{BlankPage, PageKind, PageLog, META};
use pg::check_for_interrupts;

/// Pages that a [chain](crate::page::chain) of so many words takes.
pub fn chain_pages(words: usize) -> usize {
    words.div_ceil(CHAIN_ROOM)
}

/// Writes words as a [chain](crate::page::chain) on pages that `page` gives. Returns their blocks.
pub fn write_chain<'r>(
    (log, kind, generation): (PageLog, PageKind, u64),
    words: &[u64],
    mut page: impl FnMut() -> BlankPage<'r>,
) -> Vec<u32> {
    // The last page is written first, so that each page knows the next.
    let (mut blocks, mut next) = (Vec::new(), META);
    let pages: Vec<&[u64]> = words.chunks(CHAIN_ROOM).collect();
    for some in pages.into_iter().rev() {
        next = page().write(log, kind, generation, |content| fill(content, next, some));
        blocks.push(next);
        check_for_interrupts();
    }
    blocks.reverse();
    blocks
}
