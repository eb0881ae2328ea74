//! The segment writer: rows in the order of their popcounts become segments on new pages.

use base::Result;
use sigfile::posting::MAX_ROWS;
use sigfile::write::{Content, PageStore, Writer};
use sigfile::{Pages, Part, Segment, SegmentEntry};

use super::chains::write_chain;
use crate::class::options::SigfileOptions;
use crate::page::{PageGuard, PageKind, PageLog, SharedLock, SigfileIndex};
use crate::read::describe;
use crate::sort::SortedRows;
use pg::{check_for_interrupts, interrupts_are_pending};

/// The pages of a segment that is being written.
struct SegmentPages<'r> {
    index: SigfileIndex<'r>,
    generation: u64,
    /// Row pages, then posting pages.
    blocks: Vec<u32>,
    row_pages: u32,
    /// The page that was read last.
    current: Option<(u32, PageGuard<'r, SharedLock>)>,
}

impl<'r> SegmentPages<'r> {
    fn new(index: SigfileIndex<'r>, generation: u64) -> Self {
        SegmentPages {
            index,
            generation,
            blocks: Vec::new(),
            row_pages: 0,
            current: None,
        }
    }

    /// Writes the description. Returns its first block, and how many pages there are in all.
    fn finish(mut self, segment: &Segment) -> (u32, u32) {
        self.current = None;
        let words = describe(segment, &self.blocks);
        let log = (PageLog::Later, PageKind::Map, self.generation);
        let map = write_chain(log, &words, || self.index.extended());
        (map[0], (self.blocks.len() + map.len()) as u32)
    }
}

impl Pages for SegmentPages<'_> {
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        if self.current.as_ref().is_none_or(|(n, _)| *n != number) {
            self.current = None;
            let kind = PageKind::of_segment_page(number, self.row_pages);
            let page = self.index.share(self.blocks[number as usize]);
            self.current = Some((number, page.expect(kind, self.generation)?));
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

impl PageStore for SegmentPages<'_> {
    fn append(&mut self, content: Content, words: &[u64]) {
        self.current = None;
        let kind = match content {
            Content::Rows => {
                self.row_pages += 1;
                PageKind::Rows
            }
            Content::Postings => PageKind::Postings,
        };
        let page = self.index.extended();
        let block = page.write(PageLog::Later, kind, self.generation, |to| {
            to.copy_from_slice(words)
        });
        self.blocks.push(block);
    }
}

/// Writes all of the rows into segments at the end of an index that is being built, several if they are too many for
/// one. `memory` bytes are used to sort postings.
///
/// Errors: a damaged page; out of memory.
pub fn write_segments<'r>(
    index: SigfileIndex<'r>,
    part: Part,
    rows: SortedRows,
    first_generation: u64,
    options: &SigfileOptions,
    memory: usize,
) -> Result<Vec<SegmentEntry>> {
    let geometry = rows.geometry();
    let mut new: Vec<SegmentEntry> = Vec::new();
    let mut generation = first_generation;
    let mut writer: Option<Writer<SegmentPages<'r>>> = None;
    let chunks = match part {
        Part::Signatures => options.chunks,
        Part::Nulls => None,
    };
    let finish = |writer: Writer<SegmentPages<'r>>, new: &mut Vec<SegmentEntry>| -> Result<()> {
        let (segment, pages) = writer
            .finish(chunks, memory)
            .map_err(|e| index.locate(e, &[]))?;
        let generation = pages.generation;
        let (map, pages) = pages.finish(&segment);
        new.push(SegmentEntry {
            generation,
            rows: segment.rows,
            dead: 0,
            map,
            pages,
            part,
        });
        Ok(())
    };
    rows.each(|row| {
        if writer.as_ref().is_some_and(|w| w.rows() == MAX_ROWS) {
            finish(writer.take().expect("there is one"), &mut new)?;
        }
        let writer = writer.get_or_insert_with(|| {
            generation += 1;
            Writer::new(geometry, SegmentPages::new(index, generation - 1))
        });
        writer.push(row).map_err(|e| index.locate(e, &[]))
    })?;
    if let Some(writer) = writer.take() {
        finish(writer, &mut new)?;
    }
    Ok(new)
}
