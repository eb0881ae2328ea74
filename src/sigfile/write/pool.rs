//! Where new pages come from.

use crate::pg::check_for_interrupts;
use crate::sigfile::page::{self, Buffer, PageKind, PageLog, SigfileIndex, PAGE_WORDS};
use crate::sigfile::read::MAP_HEADER;

/// Where new pages come from: blocks free to be used again, then the end of the index.
pub struct BlockPool {
    pub index: SigfileIndex,
    pub log: PageLog,
    pub free: Vec<u32>,
}

impl BlockPool {
    pub fn take(&mut self) -> Buffer {
        match self.free.pop() {
            Some(block) => self.index.reused(block),
            None => self.index.extended(),
        }
    }

    /// Writes a list of words over as many pages as it takes, each of them with the next one's
    /// block and the number of its words (u32 each) in front. Returns the blocks.
    pub fn write_chain(&mut self, kind: PageKind, generation: u64, words: &[u64]) -> Vec<u32> {
        let room = PAGE_WORDS - MAP_HEADER;
        // from the end, so that each page knows the next
        let (mut blocks, mut next) = (Vec::new(), 0u32);
        let pages: Vec<&[u64]> = words.chunks(room).collect();
        for some in pages.into_iter().rev() {
            let buffer = self.take();
            page::write(self.index, &buffer, self.log, kind, generation, |content| {
                content.fill(0);
                content[0] = u64::from(next) | (some.len() as u64) << 32;
                content[MAP_HEADER..MAP_HEADER + some.len()].copy_from_slice(some);
            });
            next = buffer.block();
            blocks.push(next);
            drop(buffer);
            check_for_interrupts();
        }
        blocks.reverse();
        blocks
    }
}
