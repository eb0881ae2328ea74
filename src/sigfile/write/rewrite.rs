//! Sealing the tail and merging segments: new segments are written beside the old ones, and take their
//! place by one change of the metapage. The old pages are used again when no snapshot, here or
//! on a standby, can belong to a search that still reads them.

use std::rc::Rc;

use bloom_ident_core::sigfile::{Geometry, Pages, RowPage, RowPageMut};
use bloom_ident_core::{Error, Result};

use super::{write_segments, MergeLock, MergeSources};
use crate::pg::check_for_interrupts;
use crate::sigfile::meta::{Meta, Part};
use crate::sigfile::page::{self, PageKind, PageLog};
use crate::sigfile::read::{cache, check_places, SegmentDescription, SegmentReader};
use crate::sigfile::sort::{sorted, RowRun, RowsInMemory, SegmentRows};

impl MergeLock {
    /// Closes the last page of a tail, so that all of it can be sealed. Returns its number of pages.
    ///
    /// Errors: a damaged page.
    pub fn close_tail(&self, part: Part) -> Result<usize> {
        let meta = Meta::read(self.index);
        let tail = &meta.tails[part as usize];
        if let Some(&last) = tail.last() {
            let buffer = self.index.exclusive(last);
            let buffer = buffer.expect(self.index, PageKind::Tail, 0)?;
            let geometry = meta.geometry(part);
            let page = RowPage::growing(geometry, buffer.words())
                .map_err(|e| self.index.locate(e.on_page(0), &[last]))?;
            if !page.is_full() {
                page::change(self.index, [&buffer], |[words]| {
                    RowPageMut::new(geometry, words).close();
                });
            }
        }
        // a page that was added meanwhile is not closed
        Ok(tail.len())
    }

    /// Replaces the sources by one segment of their live rows, or by none if none are left.
    ///
    /// Errors: a damaged page, found before anything is written; out of memory.
    pub fn rewrite(&self, sources: &MergeSources) -> Result<()> {
        let index = self.index;
        let meta = Meta::read(index);
        let part = sources.part;
        let log = PageLog::Each;
        let tail = &meta.tails[part as usize][..sources.tail];
        if tail.is_empty() && sources.segments.is_empty() {
            return Ok(());
        }
        let geometry = meta.geometry(part);
        let old = meta.segments.iter();
        let old: Result<Vec<Rc<SegmentDescription>>> = old
            .filter(|s| sources.segments.contains(&s.generation))
            .map(|s| cache::segment(index, &meta, s))
            .collect();
        let old = old?;
        for loaded in &old {
            self.look_through(loaded)?;
        }
        let rows = self.read_tail(geometry, tail)?;
        let (pool, consumed) = self.reusable(&meta, log)?;
        let mut retired = consumed.blocks.clone();
        let mut runs: Vec<RowRun> = old
            .iter()
            .map(|loaded| RowRun::SegmentRows(SegmentRows::new(index, loaded)))
            .collect();
        runs.push(RowRun::RowsInMemory(sorted(rows)));
        retired.extend_from_slice(tail);
        for loaded in &old {
            retired.extend_from_slice(&loaded.blocks);
            retired.extend_from_slice(&loaded.map);
        }
        let (new, pool) = write_segments(
            geometry,
            part,
            &mut runs,
            pool,
            meta.next_generation,
            &self.options,
            Self::memory(),
        )?;
        drop(runs);
        self.publish(pool, &new, sources, &consumed, retired);
        Ok(())
    }

    /// What a merge would stop at half-way is found before it begins: it would leave pages that nobody needs, and be tried again.
    ///
    /// Errors: a damaged page.
    fn look_through(&self, loaded: &SegmentDescription) -> Result<()> {
        let mut reader = SegmentReader::new(self.index, loaded);
        for number in 0..loaded.segment.row_pages() {
            reader.checked(number)?;
            reader.tick();
        }
        Ok(())
    }

    /// The rows of tail pages.
    ///
    /// Errors: a damaged page; out of memory.
    fn read_tail(&self, geometry: Geometry, tail: &[u32]) -> Result<RowsInMemory> {
        let mut rows = RowsInMemory::new(geometry);
        for &block in tail {
            let here = |e: Error| self.index.locate(e.on_page(0), &[block]);
            let buffer = self
                .index
                .share(block)
                .expect(self.index, PageKind::Tail, 0)?;
            let page = RowPage::growing(geometry, buffer.words()).map_err(here)?;
            page.check().map_err(here)?;
            check_places(&page).map_err(here)?;
            for i in 0..page.len() {
                let row = page.row(i);
                if row.tid != 0 {
                    rows.push(row)?;
                }
            }
            drop(buffer);
            check_for_interrupts();
        }
        Ok(rows)
    }
}
