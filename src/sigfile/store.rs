//! The core's view of a segment's pages: reading them, and writing new ones.

use bloom_ident_core::sigfile::write::{Content, PageStore};
use bloom_ident_core::sigfile::{Pages, RowPage};
use bloom_ident_core::{Error, Result};

use pgrx::pg_sys;

use super::cache::{describe, Loaded, MAP_HEADER};
use super::page::{self, Buffer, Index, Kind, Log, PAGE_WORDS};
use crate::pg::tid;
use crate::pg::{check_for_interrupts, interrupts_are_pending};

/// Reads pages of a segment, holding the last one.
pub struct Reader<'a> {
    index: Index,
    loaded: &'a Loaded,
    /// NULL for none.
    snapshot: pg_sys::Snapshot,
    row_pages: u32,
    current: Option<(u32, Buffer)>,
}

impl<'a> Reader<'a> {
    pub fn new(index: Index, loaded: &'a Loaded) -> Self {
        Reader {
            index,
            loaded,
            snapshot: std::ptr::null_mut(),
            row_pages: loaded.segment.row_pages(),
            current: None,
        }
    }

    /// For who reads with this snapshot, which lives as long as the reader.
    pub fn with_snapshot(mut self, snapshot: pg_sys::Snapshot) -> Self {
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
        check_places(&page).map_err(|e| index.locate(e.on_page(number), &loaded.blocks))?;
        Ok(page)
    }
}

/// Errors: a place where no row can be.
pub fn check_places(page: &RowPage<'_>) -> Result<()> {
    let mut tids = (0..page.len()).map(|i| page.tid(i));
    match tids.find(|&tid| tid != 0 && !tid::is_possible(tid)) {
        Some(tid) => Err(Error::damaged(tid::describe(tid))),
        None => Ok(()),
    }
}

impl Pages for Reader<'_> {
    #[inline]
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        if self.current.as_ref().is_none_or(|(n, _)| *n != number) {
            self.current = None;
            let kind = if number < self.row_pages {
                Kind::Rows
            } else {
                Kind::Postings
            };
            let block = self.loaded.blocks[number as usize];
            let recent = &self.loaded.recent[number as usize];
            let buffer = self.index.share_recent(block, recent);
            // before its kind: a page that was too old to be kept may be another one's
            buffer.test_old_snapshot(self.index, self.snapshot);
            let buffer = buffer.expect(self.index, kind, self.loaded.generation)?;
            self.current = Some((number, buffer));
        }
        Ok(self.current.as_ref().expect("just read").1.words())
    }

    #[inline]
    fn prefetch(&mut self, number: u32, words: &[usize]) {
        page::prefetch(&self.loaded.recent[number as usize], words);
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

/// Where new pages come from: blocks free to be used again, then the end of the index.
pub struct Pool {
    pub index: Index,
    pub log: Log,
    pub free: Vec<u32>,
}

impl Pool {
    pub fn take(&mut self) -> Buffer {
        match self.free.pop() {
            Some(block) => self.index.reused(block),
            None => self.index.extended(),
        }
    }

    /// Writes a list of words over as many pages as it takes, each of them with the next one's
    /// block and the number of its words (u32 each) in front. Returns the blocks.
    pub fn write_chain(&mut self, kind: Kind, generation: u64, words: &[u64]) -> Vec<u32> {
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

/// Writes a segment's pages.
pub struct NewPages {
    pub pool: Pool,
    pub generation: u64,
    blocks: Vec<u32>,
    row_pages: u32,
    current: Option<(u32, Buffer)>,
}

impl NewPages {
    pub fn new(pool: Pool, generation: u64) -> Self {
        NewPages {
            pool,
            generation,
            blocks: Vec::new(),
            row_pages: 0,
            current: None,
        }
    }

    /// Writes the description behind the pages; the blocks of both.
    pub fn finish(mut self, segment: &bloom_ident_core::sigfile::Segment) -> (Pool, u32, u32) {
        self.current = None;
        let words = describe(segment, &self.blocks);
        let map = self.pool.write_chain(Kind::Map, self.generation, &words);
        (self.pool, map[0], (self.blocks.len() + map.len()) as u32)
    }
}

impl Pages for NewPages {
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        if self.current.as_ref().is_none_or(|(n, _)| *n != number) {
            self.current = None;
            let kind = if number < self.row_pages {
                Kind::Rows
            } else {
                Kind::Postings
            };
            let index = self.pool.index;
            let buffer = index.share(self.blocks[number as usize]);
            let buffer = buffer.expect(index, kind, self.generation)?;
            self.current = Some((number, buffer));
        }
        Ok(self.current.as_ref().expect("just read").1.words())
    }

    #[inline]
    fn tick(&mut self) {
        if interrupts_are_pending() {
            self.current = None;
            check_for_interrupts();
        }
    }
}

impl PageStore for NewPages {
    fn append(&mut self, content: Content, words: &[u64]) {
        self.current = None;
        let kind = match content {
            Content::Rows => {
                self.row_pages += 1;
                Kind::Rows
            }
            Content::Postings => Kind::Postings,
        };
        let buffer = self.pool.take();
        let (index, log) = (self.pool.index, self.pool.log);
        page::write(index, &buffer, log, kind, self.generation, |to| {
            to.copy_from_slice(words)
        });
        self.blocks.push(buffer.block());
    }
}
