//! Merges in steps: some segments and the beginning of a tail become one segment, which takes their place in the end.
//! What a step has to know is in the index, so that whoever comes by goes on where the last one stopped, after a crash
//! or a promotion, too. The old pages are used again when no snapshot, here or on a standby, can belong to a search
//! that still reads them.

mod end;
mod postings;
mod sources;

use super::merge_lock::{list_pages, write_list};
use super::MergeLock;
use crate::meta;
use crate::page::chain::{fill, CHAIN_ROOM};
use crate::page::{BlankPage, PageKind, PageLog, SigfileIndex, META};
use crate::read::{self, can_be_written, is_used, merges, work_list, WorkList};
use base::Result;
use postings::POSTING_BYTES;
use sigfile::chunk::MIN_ROWS;
use sigfile::merging::{decode, encode, Phase, SegmentMerge, MAX_MERGES, MAX_SOURCES};
use sigfile::meta::{FreeList, MAX_FREE};
use sigfile::posting::MAX_ROWS;
use sigfile::words::{join, split};
use sigfile::{Meta, Part};

pub use postings::PartialSort;

/// What a merge takes.
pub struct MergeSources {
    pub part: Part,
    /// Generations of segments: [`MAX_SOURCES`](sigfile::merging::MAX_SOURCES) at most.
    pub segments: Vec<u64>,
    /// Pages of the tail, from its beginning: full or closed.
    pub tail: usize,
}

/// How much is done in one step.
#[derive(Clone, Copy)]
pub struct MergeStepSize {
    /// Pages of rows.
    pub pages: usize,
    /// Bytes for sorting postings.
    pub memory: usize,
    /// Pages of rows that are read for sorting postings; the session keeps what it has collected until the next step.
    pub scanned: usize,
    /// Interrupts are looked for within the step.
    pub interruptible: bool,
}

/// What a step has come to.
pub enum MergeProgress {
    /// The segment is in its place.
    Ended,
    /// There is more to do.
    On(SegmentMerge),
    /// Nothing more can be done for the moment.
    Waits,
}

/// A merge that goes on, while the merge lock is held.
pub struct MergeStep<'l, 'r> {
    lock: &'l MergeLock<'r>,
    meta: Meta,
    merge: SegmentMerge,
    list: WorkList,
    /// Words of the list from this one on are not written yet.
    unsaved: usize,
    size: MergeStepSize,
}

impl<'r> MergeLock<'r> {
    /// The merges in progress.
    ///
    /// Errors: a damaged page.
    pub fn merges(&self, meta: &Meta) -> Result<Vec<SegmentMerge>> {
        merges(self.index, meta)
    }

    /// Does a step of a merge.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn step(&self, merge: &SegmentMerge, size: MergeStepSize) -> Result<MergeProgress> {
        let meta = meta::read(self.index);
        let list = work_list(self.index, merge)?;
        let mut step = MergeStep {
            lock: self,
            meta,
            merge: merge.clone(),
            unsaved: list.words.len(),
            list,
            size,
        };
        match merge.phase {
            Phase::Rows => step.rows()?,
            Phase::Postings => {
                let (written, phase) = (step.merge.written, merge.phase);
                let changed = step.postings()?;
                if changed {
                    step.save()?;
                }
                let on = step.merge.written > written || step.merge.phase != phase;
                return Ok(match on {
                    true => MergeProgress::On(step.merge),
                    false => MergeProgress::Waits,
                });
            }
            Phase::Description => {
                step.end()?;
                return Ok(MergeProgress::Ended);
            }
        }
        step.save()?;
        Ok(MergeProgress::On(step.merge))
    }
}

impl MergeStep<'_, '_> {
    /// Writes to the index how far the merge has come.
    ///
    /// Errors: a damaged page; out of memory.
    fn save(&mut self) -> Result<()> {
        self.save_list()?;
        let generation = self.merge.generation;
        change_merge(self.lock.index, &self.meta, generation, |merge| {
            *merge = self.merge.clone();
        })
    }
}

/// Changes a merge on the page of merges.
///
/// Errors: a damaged page.
pub fn change_merge(
    index: SigfileIndex<'_>,
    meta: &Meta,
    generation: u64,
    change: impl FnOnce(&mut SegmentMerge),
) -> Result<()> {
    let mut page = index.exclusive(meta.work).expect(PageKind::Merges, 0)?;
    let wrong = |e: base::Error| index.damaged(meta.work, e.message());
    let mut merges = decode(page.words()).map_err(wrong)?;
    let mut same = merges.iter_mut();
    if let Some(merge) = same.find(|merge| merge.generation == generation) {
        change(merge);
        page.change(|words| encode(&merges, words));
    }
    Ok(())
}

// The list of a merge's pages, and taking pages for it.

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
        Ok(index.page_for(can_be_written(index, own, block)?.then_some(block)))
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

// Beginning a merge, and giving one up.

/// Chunks of a segment of 2^n rows: its signatures have some 260 bits of entropy, of which a chunk has n + 1.5. It is
/// only for guessing how many pages a merge will take.
const ENTROPY: f64 = 260.0;

impl MergeLock<'_> {
    /// Begins a merge, which ought to be done when `rows` more rows have been entered. `None` if there are too many
    /// already, or nothing to merge, or if another merge has taken one of the sources, or had taken it and ended: what
    /// two merges copy would be there twice, and the second one would remove rows that have come since.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn begin(&self, sources: &MergeSources, rows: u64) -> Result<Option<SegmentMerge>> {
        let meta = self.with_page_of_merges()?;
        let mut merges = self.merges(&meta)?;
        let (part, segments) = (sources.part, &sources.segments);
        let of_tail = sources.tail as u64 * meta.geometry(part).capacity as u64;
        let expected = meta.live_rows(segments) + of_tail;
        if merges.len() == MAX_MERGES
            || segments.len() > MAX_SOURCES
            || expected > u64::from(MAX_ROWS)
            || (segments.is_empty() && sources.tail == 0)
        {
            return Ok(None);
        }
        let entered = meta.entered();
        let merge = SegmentMerge {
            generation: meta.next_generation,
            part,
            segments: segments.clone(),
            tail: sources.tail as u32,
            list: (META, META),
            least_threshold: f64::INFINITY,
            paced: (entered, entered + rows),
            expected_rows: expected as u32,
            expected_pages: self.expected_pages(&meta, part, expected),
            ..SegmentMerge::default()
        };
        if merge.lacks(&meta, &merges).is_some() {
            return Ok(None);
        }
        merges.push(merge.clone());
        self.store_merges(&merges, |meta| meta.next_generation += 1)?;
        Ok(Some(merge))
    }

    /// Writes the page of merges, and changes the metapage with it.
    ///
    /// Errors: a damaged page.
    fn store_merges(&self, merges: &[SegmentMerge], change: impl FnOnce(&mut Meta)) -> Result<()> {
        let mut metapage = self.index.exclusive(META);
        let mut meta = meta::of_page(&metapage);
        let mut page = self
            .index
            .exclusive(meta.work)
            .expect(PageKind::Merges, 0)?;
        change(&mut meta);
        meta.merges = merges.len() as u16;
        metapage.change_both(&mut page, |words, content| {
            meta.encode(words);
            encode(merges, content);
        });
        Ok(())
    }

    /// Pages of a segment of so many rows, or as many of them as it can have, roughly.
    pub fn expected_pages(&self, meta: &Meta, part: Part, rows: u64) -> u32 {
        let rows = rows.min(u64::from(MAX_ROWS)) as u32;
        let geometry = meta.geometry(part);
        let mut pages = geometry.pages(rows);
        if part == Part::Signatures && rows >= MIN_ROWS {
            let own =
                (f64::from(geometry.bits).min(ENTROPY) / (f64::from(rows).log2() + 1.5)).ceil();
            let chunks = self.options.chunks.unwrap_or(own as u32);
            let page = 8 * geometry.page_words;
            let of_chunk = (rows as usize * POSTING_BYTES).div_ceil(page) as u32;
            pages = pages.saturating_add(chunks * of_chunk);
        }
        pages
    }

    /// The metapage, when there is a page of merges.
    ///
    /// Errors: damaged lists of free blocks; out of memory.
    fn with_page_of_merges(&self) -> Result<Meta> {
        let index = self.index;
        let meta = meta::read(index);
        if meta.work != META {
            return Ok(meta);
        }
        let page = self.new_page()?;
        let block = page.write(PageLog::Each, PageKind::Merges, 0, |content| {
            encode(&[], content)
        });
        Ok(meta::change(index, |meta| meta.work = block))
    }

    /// Gives a merge up: its pages are free at once, since no search has ever read them. They are listed on some of
    /// themselves, so that it takes no space, which there may be none of.
    ///
    /// A crash between the two changes leaves pages that belong to nothing, which VACUUM finds.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn abandon(&self, merge: &SegmentMerge) -> Result<()> {
        let index = self.index;
        let meta = meta::read(index);
        let mut merges = self.merges(&meta)?;
        // A step that has failed may have put blocks on the list since.
        let same = |other: &SegmentMerge| other.generation == merge.generation;
        let Some(at) = merges.iter().position(same) else {
            return Ok(());
        };
        let list = work_list(index, &merges.remove(at))?;
        let mut blocks: Vec<u32> = list.blocks().chain(list.pages.iter().copied()).collect();
        self.store_merges(&merges, |_| ())?;
        let meta = meta::read(index);
        if meta.free.len() == MAX_FREE {
            return Ok(());
        }
        // If the list was damaged, what is in use for something else is not free. Low blocks are used first.
        blocks.retain(|&block| block != META && !is_used(index, &meta, block).unwrap_or(true));
        blocks.sort_unstable();
        blocks.dedup();
        let listed = blocks.split_off(list_pages(blocks.len()).min(blocks.len()));
        if listed.is_empty() {
            return Ok(());
        }
        let mut own = blocks.into_iter();
        let page = || index.reused(own.next().expect("a page for so many blocks each"));
        let first = write_list(&listed, META, page);
        let list = FreeList {
            horizon: 0,
            first,
            blocks: listed.len() as u32,
            entered: 0,
        };
        meta::change(index, |meta| meta.free.insert(0, list));
        Ok(())
    }

    /// What a merge would stop at half-way is found before it begins. Otherwise it would be begun again and again.
    ///
    /// Errors: a damaged page.
    pub fn look_through(&self, sources: &MergeSources) -> Result<()> {
        use sigfile::Pages;

        use crate::read::SegmentReader;
        let meta = meta::read(self.index);
        for entry in &meta.segments {
            if !sources.segments.contains(&entry.generation) {
                continue;
            }
            let description = read::segment(self.index, &meta, entry)?;
            let mut reader = SegmentReader::new(self.index, &description);
            for number in 0..description.segment.row_pages() {
                reader.checked(number)?;
                reader.tick();
            }
        }
        Ok(())
    }
}
