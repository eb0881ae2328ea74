//! Where new pages come from.

use crate::pg::check_for_interrupts;
use crate::sigfile::page::chain::{fill, CHAIN_ROOM};
use crate::sigfile::page::{BlankPage, PageKind, PageLog, SigfileIndex, META};

/// Where new pages come from: blocks that are free to be used again, then the end of the index. It is used by a process that
/// holds the merge lock, or that builds the index, and never for tail pages.
pub struct BlockPool<'r> {
    pub index: SigfileIndex<'r>,
    pub log: PageLog,
    /// Blocks that nobody can be reading any more; the last is taken first.
    pub free: Vec<u32>,
}

impl<'r> BlockPool<'r> {
    /// Only pages at the end of the index.
    pub fn of_new_pages(index: SigfileIndex<'r>, log: PageLog) -> BlockPool<'r> {
        BlockPool {
            index,
            log,
            free: Vec::new(),
        }
    }

    /// A page to be written.
    pub fn take(&mut self) -> BlankPage<'r> {
        match self.free.pop() {
            Some(block) => self.index.reused(block),
            None => self.index.extended(),
        }
    }

    /// Writes words as a [chain](crate::sigfile::page::chain) of as many pages as it takes. Returns their blocks.
    pub fn write_chain(&mut self, kind: PageKind, generation: u64, words: &[u64]) -> Vec<u32> {
        // The last page is written first, so that each page knows the next.
        let (mut blocks, mut next) = (Vec::new(), META);
        let pages: Vec<&[u64]> = words.chunks(CHAIN_ROOM).collect();
        for some in pages.into_iter().rev() {
            let page = self.take();
            next = page.write(self.log, kind, generation, |content| {
                fill(content, next, some)
            });
            blocks.push(next);
            check_for_interrupts();
        }
        blocks.reverse();
        blocks
    }
}
