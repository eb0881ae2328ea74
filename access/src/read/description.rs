//! Descriptions of segments: which pages they have, and what the search plans with. They never change.

use super::BlockSet;
use crate::meta::fits;
use crate::page::chain::{ChainPage, CHAIN_ROOM};
use crate::page::{self, PageGuard, PageKind, SharedLock, SigfileIndex, META};
use base::memory::{filled, reserve, with_room};
use base::{Error, Result};
use pg::tid::Tid;
use pg::{check_for_interrupts, interrupts_are_pending};
use pgrx::pg_sys;
use sigfile::budget::SearchSteps;
use sigfile::words::{pack, unpack};
use sigfile::{costs, Meta, Pages, RowPage, Segment, SegmentEntry};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A segment, and where its pages are.
pub struct SegmentDescription {
    /// The number that the stamps of its pages have.
    pub generation: u64,
    pub segment: Segment,
    /// What the steps of a search cost.
    pub steps: SearchSteps,
    /// Row pages, then posting pages.
    pub blocks: Vec<u32>,
    /// Pages of this description.
    pub map: Vec<u32>,
    /// For each block the buffer where it was found last, 0 if never.
    pub recent: Vec<Cell<i32>>,
}

impl SegmentDescription {
    /// Bytes of memory.
    pub fn size(&self) -> usize {
        self.segment.size() + self.steps.size() + 4 * (2 * self.blocks.len() + self.map.len())
    }
}

/// Reads a description from its map pages.
///
/// Errors: a damaged one; out of memory.
pub fn load(
    index: SigfileIndex<'_>,
    meta: &Meta,
    entry: &SegmentEntry,
) -> Result<SegmentDescription> {
    let total = index.blocks();
    let wrong = |block: u32| index.damaged(block, "the description of a segment is impossible");
    if entry.pages > total || !fits(meta, index) {
        return Err(wrong(META));
    }
    let (words, map) = read_map(index, entry, total)?;
    let count = words.first().copied().unwrap_or(0);
    if count.checked_add(map.len() as u64) != Some(entry.pages.into()) {
        return Err(wrong(entry.map));
    }
    let count = count as usize;
    let (listed, mut rest) = words[1..]
        .split_at_checked(count.div_ceil(2))
        .ok_or_else(|| wrong(entry.map))?;
    let mut blocks = with_room(count)?;
    blocks.extend(unpack(listed, count));
    let mut used = BlockSet::new(total)?;
    used.claim(META);
    if !blocks.iter().chain(&map).all(|&block| used.claim(block)) {
        return Err(wrong(entry.map));
    }
    let segment = Segment::decode(meta.geometry(entry.part), &mut rest)
        .map_err(|e| index.locate(e.on_page(0), &[entry.map]))?;
    if segment.pages() as usize != count || segment.rows != entry.rows || !rest.is_empty() {
        return Err(wrong(entry.map));
    }
    Ok(SegmentDescription {
        generation: entry.generation,
        steps: SearchSteps::new(&segment, &costs::SEARCH),
        segment,
        recent: filled(count, Cell::new(0))?,
        blocks,
        map,
    })
}

/// The words of a chain of map pages, and the blocks of these. All but the last are full, so that there is no circle.
///
/// Errors: pages that do not make up the chain; out of memory.
fn read_map(
    index: SigfileIndex<'_>,
    entry: &SegmentEntry,
    total: u32,
) -> Result<(Vec<u64>, Vec<u32>)> {
    let (mut words, mut map) = (Vec::new(), Vec::new());
    let mut block = entry.map;
    while block != META {
        if block >= total {
            return Err(index.damaged(block, "the index has no such block"));
        }
        let page = index.share(block).expect(PageKind::Map, entry.generation)?;
        map.push(block);
        let link = ChainPage::new(page.words())
            .filter(|l| !l.words.is_empty() && (l.is_last() || l.words.len() == CHAIN_ROOM))
            .filter(|_| map.len() < entry.pages as usize)
            .ok_or_else(|| index.damaged(block, "the description of a segment is impossible"))?;
        let n = link.words.len();
        reserve(&mut words, n)?;
        words.extend_from_slice(link.words);
        block = link.next;
        drop(page);
        check_for_interrupts();
    }
    Ok((words, map))
}

/// The words of a description, as [`load`] reads them: the number of blocks (row pages, then posting pages), the blocks
/// (u32), the segment.
pub fn describe(segment: &Segment, blocks: &[u32]) -> Vec<u64> {
    let mut words = vec![blocks.len() as u64];
    words.extend(pack(blocks));
    segment.encode(&mut words);
    words
}

// What sessions remember of segments: their descriptions, which never change.

/// Bytes of descriptions that a session remembers, beside the one that it needs: each has some 12 a page.
const REMEMBERED: usize = 64 << 20;

struct CachedDescription {
    /// That of the index.
    identity: u64,
    description: Rc<SegmentDescription>,
}

pg::session_state! {
    /// The last used last.
    static CACHE: RefCell<Vec<CachedDescription>> = RefCell::default();
    "segments" by "index and generation" until "the segment is merged, or 64 MB of others are used"
        bytes |cache| cache.borrow().iter().map(|r| r.description.size()).sum();
}

/// The description of a segment, remembered or read.
///
/// Errors: a damaged one; out of memory.
#[inline]
pub fn segment(
    index: SigfileIndex<'_>,
    meta: &Meta,
    entry: &SegmentEntry,
) -> Result<Rc<SegmentDescription>> {
    let known = CACHE.with_borrow_mut(|cache| {
        let at = cache.iter().rposition(|r| {
            r.identity == meta.identity && r.description.generation == entry.generation
        })?;
        let found = cache.remove(at);
        let description = found.description.clone();
        cache.push(found);
        Some(description)
    });
    if let Some(description) = known {
        return Ok(description);
    }
    let description = Rc::new(load(index, meta, entry)?);
    CACHE.with_borrow_mut(|cache| {
        // Segments of this index that are gone make room first.
        cache.retain(|r| {
            r.identity != meta.identity
                || meta
                    .segments
                    .iter()
                    .any(|s| s.generation == r.description.generation)
        });
        while cache.iter().map(|r| r.description.size()).sum::<usize>() > REMEMBERED {
            cache.remove(0);
        }
        cache.push(CachedDescription {
            identity: meta.identity,
            description: description.clone(),
        });
    });
    Ok(description)
}

// The segment reader: the core's view of the pages of a segment.

/// Reads pages of a segment, holding the last one.
pub struct SegmentReader<'a> {
    index: SigfileIndex<'a>,
    loaded: &'a SegmentDescription,
    /// NULL for none.
    snapshot: pg_sys::Snapshot,
    row_pages: u32,
    current: Option<(u32, PageGuard<'a, SharedLock>)>,
}

impl<'a> SegmentReader<'a> {
    /// A reader of a segment of the index.
    pub fn new(index: SigfileIndex<'a>, loaded: &'a SegmentDescription) -> Self {
        SegmentReader {
            index,
            loaded,
            snapshot: std::ptr::null_mut(),
            row_pages: loaded.segment.row_pages(),
            current: None,
        }
    }

    /// For a reader with this snapshot.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan, which lasts longer than the reader.
    pub unsafe fn with_snapshot(mut self, snapshot: pg_sys::Snapshot) -> Self {
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
        check_tids(&page).map_err(|e| index.locate(e.on_page(number), &loaded.blocks))?;
        Ok(page)
    }
}

/// Looks at the tids of all rows that are not dead.
///
/// Errors: a tid that no row can have.
pub fn check_tids(page: &RowPage<'_>) -> Result<()> {
    let mut tids = (0..page.len()).map(|i| Tid::of_stored(page.tid(i)));
    match tids.find(|&tid| tid.stored() != 0 && !tid.is_possible()) {
        Some(tid) => Err(Error::damaged(tid.describe_impossible())),
        None => Ok(()),
    }
}

impl Pages for SegmentReader<'_> {
    #[inline]
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        if self.current.as_ref().is_none_or(|(n, _)| *n != number) {
            self.current = None;
            let kind = PageKind::of_segment_page(number, self.row_pages);
            let block = self.loaded.blocks[number as usize];
            let recent = &self.loaded.recent[number as usize];
            let page = self.index.locked_recent(block, recent);
            // The snapshot comes before the kind: a page that was too old to be kept may be used for something else.
            // SAFETY: with_snapshot() was promised that the snapshot is there.
            unsafe { page.test_old_snapshot(self.snapshot) };
            let page = page.expect(kind, self.loaded.generation)?;
            self.current = Some((number, page));
        }
        Ok(self.current.as_ref().expect("just read").1.words())
    }

    #[inline]
    fn prefetch(&mut self, number: u32, words: &[usize]) {
        page::prefetch(&self.loaded.recent[number as usize], words);
    }

    #[inline]
    fn glimpse(&self, number: u32, word: usize) -> Option<u64> {
        page::glimpse(&self.loaded.recent[number as usize], word)
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
