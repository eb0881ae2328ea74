//! What each block of an index is used for. Lists of blocks come from pages: before any of them is written to, they are
//! compared with each other, so that a damaged list does not cost more than itself.

use bloom_ident_core::sigfile::meta::FreeList;
use bloom_ident_core::sigfile::words::unpack;
use bloom_ident_core::sigfile::Meta;
use bloom_ident_core::{Error, Result};

use super::cache;
use crate::pg::check_for_interrupts;
use crate::sigfile::page::chain::{ChainPage, CHAIN_ROOM};
use crate::sigfile::page::{PageKind, SigfileIndex, META};

/// A set of blocks: those that are known to be used for something.
pub struct BlockSet {
    words: Vec<u64>,
    /// How many there are.
    total: u32,
}

impl BlockSet {
    /// None of `total` blocks.
    ///
    /// Errors: out of memory.
    pub fn new(total: u32) -> Result<BlockSet> {
        let n = total.div_ceil(64) as usize;
        let mut words = Vec::new();
        words
            .try_reserve_exact(n)
            .map_err(|_| Error::out_of_memory(8 * n))?;
        words.resize(n, 0);
        Ok(BlockSet { words, total })
    }

    /// Adds a block. False if there is no such block, or it was in the set before.
    pub fn claim(&mut self, block: u32) -> bool {
        let free = block < self.total && !self.has(block);
        if free {
            self.words[block as usize / 64] |= 1 << (block % 64);
        }
        free
    }

    /// Whether a block is in the set.
    pub fn has(&self, block: u32) -> bool {
        let word = self.words.get(block as usize / 64);
        word.is_some_and(|word| word >> (block % 64) & 1 == 1)
    }

    /// The blocks that are not in the set.
    pub fn unclaimed(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.total).filter(|&block| !self.has(block))
    }
}

/// The blocks in use, of `total`: all but those that lists of free blocks name.
///
/// Errors: one that is used twice, or that there is not; damaged descriptions; out of memory.
pub fn in_use(index: SigfileIndex<'_>, meta: &Meta, total: u32) -> Result<BlockSet> {
    let mut used = BlockSet::new(total)?;
    let mut claim = |block: u32| match used.claim(block) {
        true => Ok(()),
        false if block < total => Err(index.damaged(block, "the block is used twice")),
        false => Err(index.damaged(block, &format!("the index has {total} blocks only"))),
    };
    claim(META)?;
    meta.tails.iter().flatten().try_for_each(|&b| claim(b))?;
    for entry in &meta.segments {
        let loaded = cache::segment(index, meta, entry)?;
        let blocks = loaded.blocks.iter().chain(&loaded.map);
        blocks.copied().try_for_each(&mut claim)?;
    }
    for list in &meta.free {
        read_list(index, list)?
            .1
            .into_iter()
            .try_for_each(&mut claim)?;
    }
    Ok(used)
}

/// The blocks of a list, and those it is written on.
///
/// Errors: pages that do not make up the list; out of memory.
pub fn read_list(index: SigfileIndex<'_>, list: &FreeList) -> Result<(Vec<u32>, Vec<u32>)> {
    let (mut blocks, mut pages) = (Vec::new(), Vec::new());
    let (mut block, mut left) = (list.first, list.blocks as usize);
    while left > 0 {
        let page = index.share(block).expect(PageKind::Free, 0)?;
        let here = left.min(2 * CHAIN_ROOM);
        let link = ChainPage::of(page.words())
            .filter(|l| l.words.len() == here.div_ceil(2) && l.is_last() == (here == left))
            .ok_or_else(|| {
                let what = "the list of free blocks is not as long as it ought to be";
                index.damaged(block, what)
            })?;
        blocks
            .try_reserve(here)
            .map_err(|_| Error::out_of_memory(4 * here))?;
        blocks.extend(unpack(link.words, here));
        let next = link.next;
        pages.push(block);
        left -= here;
        block = next;
        drop(page);
        check_for_interrupts();
    }
    if blocks.contains(&META) {
        return Err(index.damaged(list.first, "the metapage is listed as free"));
    }
    Ok((blocks, pages))
}
