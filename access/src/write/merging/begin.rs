//! Beginning a merge, and giving one up.

use base::Result;
use sigfile::chunk::MIN_ROWS;
use sigfile::merging::{encode, SegmentMerge, MAX_MERGES, MAX_SOURCES};
use sigfile::meta::{FreeList, MAX_FREE};
use sigfile::posting::MAX_ROWS;
use sigfile::{Meta, Part};

use super::super::free_list::{list_pages, write_list};
use super::postings::POSTING_BYTES;
use super::{MergeLock, MergeSources};
use crate::meta;
use crate::page::{PageKind, PageLog, META};
use crate::read::{self, is_used, work_list};

/// Chunks of a segment of 2^n rows: its signatures have some 260 bits of entropy, of which a chunk has n + 1.5. It is
/// only for guessing how many pages a merge will take.
const ENTROPY: f64 = 260.0;

impl MergeLock<'_> {
    /// Begins a merge, which ought to be done when `rows` more rows have been entered. `None` if there are too many
    /// already, or nothing to merge.
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
        let list = work_list(index, merge)?;
        let mut blocks: Vec<u32> = list.blocks().chain(list.pages.iter().copied()).collect();
        let meta = meta::read(index);
        let mut merges = self.merges(&meta)?;
        merges.retain(|other| other.generation != merge.generation);
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
