//! Merges in progress, as the index knows them.

use base::{Error, Result};
use sigfile::merging::{decode, SegmentMerge};
use sigfile::words::split;
use sigfile::Meta;

use crate::page::chain::{ChainPage, CHAIN_ROOM};
use crate::page::{PageKind, SigfileIndex, META};

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
    list.words
        .try_reserve(listed)
        .map_err(|_| Error::out_of_memory(8 * listed))?;
    let mut block = first;
    while block != META {
        let page = index
            .share(block)
            .expect(PageKind::Work, merge.generation)?;
        let here = CHAIN_ROOM.min(listed - list.words.len());
        let link = ChainPage::of(page.words())
            // The last page can have more words than the merge has been told of.
            .filter(|link| link.words.len() >= here && here > 0)
            .filter(|link| link.is_last() || here == CHAIN_ROOM)
            .ok_or_else(|| index.damaged(block, "the list of a merge is impossible"))?;
        list.words.extend_from_slice(&link.words[..here]);
        list.pages.push(block);
        // Nor does it matter what comes behind the page that was the last when the merge was told of it.
        block = if block == last { META } else { link.next };
    }
    if list.words.len() != listed {
        return Err(index.damaged(first, "the list of a merge is impossible"));
    }
    Ok(list)
}
