//! What each block of an index is used for. Lists of blocks come from pages: before any of them is written to, they are
//! compared with each other, so that a damaged list does not cost more than itself.

use super::segment;
use crate::meta;
use crate::page::chain::{ChainPage, CHAIN_ROOM};
use crate::page::{PageKind, SigfileIndex, META};
use base::memory::{filled, reserve};
use base::{Error, Result};
use pg::check_for_interrupts;
use pg::relation::has_block;
use sigfile::merging::{decode, SegmentMerge};
use sigfile::meta::FreeList;
use sigfile::words::{split, unpack};
use sigfile::Meta;

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
        let words = filled(total.div_ceil(64) as usize, 0)?;
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

/// The blocks in use, of `total`: all but those that are free. `free`: those, too, which leaves what belongs to
/// nothing.
///
/// Errors: one that is used twice, or that there is not; damaged descriptions; out of memory.
pub fn in_use(index: SigfileIndex<'_>, meta: &Meta, total: u32, free: bool) -> Result<BlockSet> {
    let mut used = BlockSet::new(total)?;
    let mut claim = |block: u32| match used.claim(block) {
        true => Ok(()),
        false if block < total => Err(index.damaged(block, "the block is used twice")),
        false => Err(index.damaged(block, &format!("the index has {total} blocks only"))),
    };
    claim(META)?;
    if meta.work != META {
        claim(meta.work)?;
    }
    meta.tails.iter().flatten().try_for_each(|&b| claim(b))?;
    for entry in &meta.segments {
        let loaded = segment(index, meta, entry)?;
        let blocks = loaded.blocks.iter().chain(&loaded.map);
        blocks.copied().try_for_each(&mut claim)?;
    }
    for merge in &merges(index, meta)? {
        let list = work_list(index, merge)?;
        list.pages.iter().try_for_each(|&block| claim(block))?;
        list.blocks().try_for_each(&mut claim)?;
    }
    let mut unused = Vec::new();
    for list in &meta.free {
        let (blocks, pages) = read_list(index, list)?;
        pages.into_iter().try_for_each(&mut claim)?;
        unused.extend(blocks);
    }
    if free {
        for block in unused.iter().chain(&meta.stock) {
            used.claim(*block);
        }
    }
    Ok(used)
}

/// Whether a block that was listed as free is in use all the same, or not there: then it must not be written to.
///
/// Errors: damage in what tells it; out of memory.
pub fn is_used(index: SigfileIndex<'_>, meta: &Meta, block: u32) -> Result<bool> {
    // SAFETY: the relation is open.
    if !unsafe { has_block(index.relation(), block) } {
        return Ok(true);
    }
    Ok(may_be_used(index, meta, block)? && in_use(index, meta, index.blocks(), false)?.has(block))
}

/// Whether a block that waits on the list of a merge is there, and can be written to. The metapage is not locked.
///
/// Errors: it is in use for something else; damage in what tells it; out of memory.
pub fn can_be_written(
    index: SigfileIndex<'_>,
    (merge, list): (&SegmentMerge, &WorkList),
    block: u32,
) -> Result<bool> {
    // SAFETY: the relation is open.
    if !unsafe { has_block(index.relation(), block) } {
        return Ok(false);
    }
    let stamp = index.share(block).kind();
    if stamp.is_some_and(|(_, generation)| generation == merge.generation) {
        // Of this merge: what a crash has made it forget, or what it has.
        let mut written = list.blocks().take(merge.written as usize);
        if written.any(|own| own == block) || list.pages.contains(&block) {
            return Err(index.damaged(block, "the block is used twice"));
        }
        return Ok(true);
    }
    let meta = meta::read(index);
    if may_be_used(index, &meta, block)? {
        // It fails if the block is in use for something beside this list.
        in_use(index, &meta, index.blocks(), false)?;
    }
    Ok(true)
}

/// Whether a block's own stamp leaves it open that it is in use. It does not in most cases.
///
/// Errors: a damaged page of merges.
fn may_be_used(index: SigfileIndex<'_>, meta: &Meta, block: u32) -> Result<bool> {
    let merged = |generation: u64| -> Result<bool> {
        let merges = merges(index, meta)?;
        Ok(merges.iter().any(|m| m.generation == generation))
    };
    let stamp = index.share(block).kind();
    Ok(match stamp {
        None => false,
        Some((PageKind::Tail, _)) => meta.tails.iter().flatten().any(|&b| b == block),
        Some((PageKind::Rows | PageKind::Postings | PageKind::Map, generation)) => {
            let mut segments = meta.segments.iter();
            segments.any(|s| s.generation == generation) || merged(generation)?
        }
        Some((PageKind::Work, generation)) => merged(generation)?,
        Some((PageKind::Meta | PageKind::Merges | PageKind::Free, _)) => true,
    })
}

/// The blocks of a list, and those it is written on.
///
/// Errors: pages that do not make up the list; out of memory.
pub fn read_list(index: SigfileIndex<'_>, list: &FreeList) -> Result<(Vec<u32>, Vec<u32>)> {
    let (mut blocks, mut pages) = (Vec::new(), Vec::new());
    let (mut block, all) = (list.first, list.blocks as usize);
    let mut impossible = || {
        let what = "the list of free blocks is not as long as it ought to be";
        index.damaged(list.first, what)
    };
    while block != META {
        let page = index.share(block).expect(PageKind::Free, 0)?;
        let link = ChainPage::new(page.words()).ok_or_else(&mut impossible)?;
        reserve(&mut blocks, 2 * link.words.len())?;
        // An odd number of blocks leaves half a word.
        let here = unpack(link.words, 2 * link.words.len());
        let before = blocks.len();
        blocks.extend(here.filter(|&block| block != META));
        pages.push(block);
        if blocks.len() == before || blocks.len() > all {
            return Err(impossible());
        }
        block = link.next;
        drop(page);
        check_for_interrupts();
    }
    if blocks.len() != all {
        return Err(impossible());
    }
    Ok((blocks, pages))
}

// Merges in progress, as the index knows them.

/// The merges that the metapage tells of.
///
/// Errors: a damaged page.
pub fn merges(index: SigfileIndex<'_>, meta: &Meta) -> Result<Vec<SegmentMerge>> {
    if meta.work == META {
        return Ok(Vec::new());
    }
    let page = index.share(meta.work).expect(PageKind::Merges, 0)?;
    let wrong = |e: Error| index.damaged(meta.work, e.message());
    let merges = decode(page.words()).map_err(wrong)?;
    for merge in &merges {
        merge.fits(&meta.geometry(merge.part)).map_err(wrong)?;
    }
    Ok(merges)
}

/// The pages of a segment that is being written.
pub struct WorkList {
    /// A word for each page: its block, and what the description will tell of it.
    pub words: Vec<u64>,
    /// The pages that the list is on.
    pub pages: Vec<u32>,
}

impl WorkList {
    /// The blocks of the segment's pages, and of those to be used next.
    pub fn blocks(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().map(|&word| split(word).0)
    }
}

/// Reads the list of pages of a merge.
///
/// Errors: pages that do not make up the list; out of memory.
pub fn work_list(index: SigfileIndex<'_>, merge: &SegmentMerge) -> Result<WorkList> {
    let listed = merge.listed as usize;
    let mut list = WorkList {
        words: Vec::new(),
        pages: Vec::new(),
    };
    let (first, last) = merge.list;
    if listed > index.blocks() as usize {
        return Err(index.damaged(META, "a merge has impossible numbers"));
    }
    reserve(&mut list.words, listed)?;
    let mut block = first;
    while block != META {
        let page = index
            .share(block)
            .expect(PageKind::Work, merge.generation)?;
        let here = CHAIN_ROOM.min(listed - list.words.len());
        let link = ChainPage::new(page.words())
            // The last page can have more words than the merge has been told of.
            .filter(|link| link.words.len() >= here && here > 0)
            // Nor does it matter what comes behind the page that was the last when the merge was told of it.
            .filter(|link| block == last || (!link.is_last() && here == CHAIN_ROOM))
            .ok_or_else(|| index.damaged(block, "the list of a merge is impossible"))?;
        list.words.extend_from_slice(&link.words[..here]);
        list.pages.push(block);
        block = if block == last { META } else { link.next };
    }
    if list.words.len() != listed {
        return Err(index.damaged(first, "the list of a merge is impossible"));
    }
    Ok(list)
}
