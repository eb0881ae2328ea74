//! The list of a merge's pages, and taking pages for it.

use base::Result;
use sigfile::words::{join, split};

use super::MergeStep;
use crate::page::chain::{fill, CHAIN_ROOM};
use crate::page::{BlankPage, PageKind, PageLog, META};
use crate::read::can_be_written;

impl<'r> MergeStep<'_, 'r> {
    /// Blocks that wait to be used.
    fn waiting(&self) -> usize {
        self.list.words.len() - self.merge.written as usize
    }

    /// Has `n` free blocks on the list, or as many as there are; if some are missing, up to `some` are taken. They are
    /// on it before they are used, so that an error leaves none that belongs to nothing.
    ///
    /// Errors: damaged lists of free blocks; out of memory.
    pub fn reserve(&mut self, n: usize, some: usize) -> Result<()> {
        let missing = n.saturating_sub(self.waiting());
        if missing == 0 {
            return Ok(());
        }
        let free = self.lock.take_free(missing.max(some))?;
        if free.is_empty() {
            return Ok(());
        }
        self.list
            .words
            .extend(free.iter().map(|&block| join(block, 0)));
        self.save()
    }

    /// Writes the next page of the segment. `about` is what the description will tell of it. What the merge tells of
    /// the pages before has to be complete, as it is saved when free blocks are taken.
    ///
    /// Errors: damaged lists of free blocks; out of memory.
    pub fn write(
        &mut self,
        kind: PageKind,
        about: u32,
        fill: impl FnOnce(&mut [u64]),
    ) -> Result<()> {
        self.reserve(1, self.size.pages / 2)?;
        let at = self.merge.written as usize;
        let generation = self.merge.generation;
        let page = self.page(at)?;
        let block = page.write(PageLog::Each, kind, generation, fill);
        let word = join(block, about);
        match self.list.words.get_mut(at) {
            Some(to) => *to = word,
            None => self.list.words.push(word),
        }
        self.unsaved = self.unsaved.min(at);
        self.merge.written += 1;
        Ok(())
    }

    /// The page at a place of the list: the block that waits there if it can be written to, or a new one.
    ///
    /// Errors: a damaged list; out of memory.
    fn page(&self, at: usize) -> Result<BlankPage<'r>> {
        let index = self.lock.index;
        let Some(&word) = self.list.words.get(at) else {
            return Ok(index.extended());
        };
        let block = split(word).0;
        let own = (&self.merge, &self.list);
        Ok(match can_be_written(index, own, block)? {
            true => index.reused(block),
            false => index.extended(),
        })
    }

    /// The blocks that wait and can be written to.
    ///
    /// Errors: a damaged list; out of memory.
    pub fn waiting_blocks(&self) -> Result<Vec<u32>> {
        let index = self.lock.index;
        let own = (&self.merge, &self.list);
        let mut free: Vec<u32> = Vec::new();
        for block in self.list.blocks().skip(self.merge.written as usize) {
            if free.contains(&block) {
                return Err(index.damaged(block, "the block is used twice"));
            }
            if can_be_written(index, own, block)? {
                free.push(block);
            }
        }
        Ok(free)
    }

    /// What the description will tell of a page.
    pub fn about(&self, number: u32) -> u32 {
        split(self.list.words[number as usize]).1
    }

    /// Writes the list as far as it has changed. It counts only when the merge tells of it.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn save_list(&mut self) -> Result<()> {
        let index = self.lock.index;
        let (kind, generation) = (PageKind::Work, self.merge.generation);
        let unsaved = self.unsaved.min(self.merge.listed as usize);
        let needed = self.list.words.len().div_ceil(CHAIN_ROOM);
        for number in unsaved / CHAIN_ROOM..needed {
            let from = number * CHAIN_ROOM;
            let words = &self.list.words[from..self.list.words.len().min(from + CHAIN_ROOM)];
            if let Some(&block) = self.list.pages.get(number) {
                let next = self.list.pages.get(number + 1).copied().unwrap_or(META);
                let mut page = index.exclusive(block).expect(kind, generation)?;
                page.change(|content| fill(content, next, words));
                continue;
            }
            let page = self.lock.new_page()?;
            let block = page.write(PageLog::Each, kind, generation, |content| {
                fill(content, META, words)
            });
            if let Some(&last) = self.list.pages.last() {
                let before = &self.list.words[from - CHAIN_ROOM..from];
                let mut page = index.exclusive(last).expect(kind, generation)?;
                page.change(|content| fill(content, block, before));
            }
            self.list.pages.push(block);
        }
        self.unsaved = self.list.words.len();
        self.merge.listed = self.list.words.len() as u32;
        let ends = (self.list.pages.first(), self.list.pages.last());
        self.merge.list = (
            ends.0.copied().unwrap_or(META),
            ends.1.copied().unwrap_or(META),
        );
        Ok(())
    }
}
