//! The end of a merge: the description is written, and the segment takes the place of its sources by one change of the
//! metapage.

use base::Result;
use pg::check_for_interrupts;
use sigfile::keys::PageOrders;
use sigfile::merging::encode;
use sigfile::meta::MAX_STOCK;
use sigfile::segment::{Postings, MEASURED};
use sigfile::words::split;
use sigfile::write::{finite, measure, RowCounts};
use sigfile::{Meta, Pages, Part, Segment, SegmentEntry};

use super::super::merge_lock::list_pages;
use super::sources::{beginning, segments};
use super::MergeStep;
use crate::page::chain::{chain_pages, write_chain};
use crate::page::{PageKind, PageLog, META};
use crate::read::describe;

impl MergeStep<'_, '_> {
    /// Writes the description, and puts the segment in the place of its sources.
    ///
    /// Errors: a damaged page; out of memory; more than a metapage holds.
    pub fn end(&mut self) -> Result<()> {
        let index = self.lock.index;
        let sources = segments(index, &self.meta, &self.merge)?;
        let tail = beginning(index, &self.meta, &self.merge)?;
        let mut retired = tail.to_vec();
        for description in &sources {
            retired.extend_from_slice(&description.blocks);
            retired.extend_from_slice(&description.map);
        }
        let words = if self.merge.rows == 0 {
            Vec::new()
        } else {
            let segment = self.segment()?;
            let written = &self.list.words[..self.merge.written as usize];
            let blocks: Vec<u32> = written.iter().map(|&word| split(word).0).collect();
            describe(&segment, &blocks)
        };
        let lists = list_pages(retired.len() + self.list.pages.len() + 1);
        self.reserve(chain_pages(words.len()) + lists, 0)?;
        let written = self.merge.written as usize;
        let mut spare = self.waiting_blocks()?;
        let log = (PageLog::Each, PageKind::Map, self.merge.generation);
        let map = write_chain(log, &words, META, || {
            check_for_interrupts();
            index.page_for(spare.pop())
        });
        let entry = map.first().map(|&first| SegmentEntry {
            generation: self.merge.generation,
            rows: self.merge.rows,
            dead: self.merge.dead,
            map: first,
            pages: (written + map.len()) as u32,
            part: self.merge.part,
        });
        retired.extend_from_slice(&self.list.pages);
        // What was taken for nothing goes into stock, since nobody has ever read it.
        let pages_of_list = list_pages(retired.len());
        let mut pages = spare.split_off(spare.len().saturating_sub(pages_of_list));
        let room = MAX_STOCK - self.meta.stock.len();
        retired.extend(spare.drain(room.min(spare.len())..));
        let mut merges = self.lock.merges(&self.meta)?;
        merges.retain(|merge| merge.generation != self.merge.generation);
        let write = |content: &mut [u64]| encode(&merges, content);
        let page = || index.page_for(pages.pop());
        let change = |meta: &mut Meta| {
            meta.stock.extend(spare);
            self.change(meta, entry, merges.len());
        };
        self.lock
            .replace(retired, page, change, Some((self.meta.work, &write)))
    }

    /// What the metapage tells afterwards.
    fn change(&self, meta: &mut Meta, new: Option<SegmentEntry>, merges: usize) {
        let part = self.merge.part;
        meta.segments
            .retain(|s| !self.merge.segments.contains(&s.generation));
        meta.segments.extend(new);
        // By generation: a merge that began later may have ended before.
        meta.segments.sort_unstable_by_key(|s| s.generation);
        let tail = self.merge.tail as usize;
        let rows = tail as u64 * self.meta.geometry(part).capacity as u64;
        meta.shorten(part, tail, rows);
        meta.merges = merges as u16;
        let signatures = Part::Signatures;
        if meta.tail(signatures).is_empty() && meta.segments_of(signatures).next().is_none() {
            // The next row may have any shape.
            let none = meta.set_shape(0);
            none.expect("an index without rows has no shape");
        }
    }

    /// The segment as it will be described.
    ///
    /// Errors: a damaged page.
    fn segment(&self) -> Result<Segment> {
        let merge = &self.merge;
        let geometry = self.meta.geometry(merge.part);
        let mut next_page = geometry.pages(merge.rows);
        let (first, begins) = self.order_of_rows()?;
        let mut segment = Segment {
            geometry,
            rows: merge.rows,
            least_threshold: finite(merge.least_threshold),
            first,
            begins,
            postings: Vec::new(),
        };
        for merged in &merge.chunks {
            let pages = next_page..next_page + merged.pages;
            segment.postings.push(Postings {
                chunk: merged.chunk,
                first_page: next_page,
                fences: pages.clone().map(|number| self.about(number)).collect(),
                expected: [0.0; MEASURED],
            });
            next_page = pages.end;
        }
        if !segment.postings.is_empty() {
            measure(&mut segment, &mut self.pages())?;
        }
        Ok(segment)
    }

    /// What the description tells of the order of rows.
    ///
    /// Errors: a damaged page.
    fn order_of_rows(&self) -> Result<(Vec<u32>, PageOrders)> {
        let (rows, geometry) = (self.row_set(), self.row_set().geometry);
        if !geometry.keys {
            return Ok((self.first_rows()?, PageOrders::default()));
        }
        let mut counts = RowCounts::new(&geometry);
        let mut pages = self.pages();
        for number in 0..geometry.pages(rows.rows) {
            let page = rows.page(number, pages.page(number)?)?;
            for i in 0..page.len() {
                if page.popcounts()[i] > geometry.null_popcount() {
                    page.checked(i)?;
                }
                counts.add(page.order(i));
            }
            pages.tick();
        }
        Ok(counts.finish())
    }

    /// The first row of at least so many bits, for 0 to bits + 2. Only pages on which a popcount begins are read.
    ///
    /// Errors: a damaged page.
    fn first_rows(&self) -> Result<Vec<u32>> {
        let (rows, geometry) = (self.row_set(), self.row_set().geometry);
        let row_pages = geometry.pages(rows.rows);
        let mut first = Vec::with_capacity(geometry.bits as usize + 3);
        let mut pages = self.pages();
        for number in 0..row_pages {
            let last = self.about(number);
            let same = number + 1 < row_pages && self.about(number + 1) == last;
            if same && first.len() > last as usize {
                continue;
            }
            let page = rows.page(number, pages.page(number)?)?;
            for (i, &popcount) in page.popcounts().iter().enumerate() {
                let row = number * geometry.capacity as u32 + i as u32;
                let filled = first.len().max(popcount as usize + 1);
                first.resize(filled, row);
            }
            pages.tick();
        }
        first.resize(geometry.null_popcount() as usize + 2, rows.rows);
        Ok(first)
    }
}
