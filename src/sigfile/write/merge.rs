//! Sealing the tail and merging segments: new segments are written beside the old ones, and take their
//! place by one change of the metapage. The old pages are used again when no snapshot, here or
//! on a standby, can belong to a search that still reads them.

use std::rc::Rc;

use bloom_ident_core::sigfile::{Geometry, Pages, Part, RowPageMut};
use bloom_ident_core::Result;

use super::{write_segments, MergeLock, MergeSources};
use crate::sigfile::meta;
use crate::sigfile::page::{ExclusiveLock, PageLog, SharedLock};
use crate::sigfile::read::{cache, SegmentDescription, SegmentReader, TailPages};
use crate::sigfile::sort::{RowRun, RowsInMemory, SegmentRows, SortedRuns};

impl MergeLock<'_> {
    /// Closes the last page of a tail, so that all of it can be sealed. Returns its number of pages.
    ///
    /// Errors: a damaged page.
    pub fn close_tail(&self, part: Part) -> Result<usize> {
        let meta = meta::read(self.index);
        let (tail, geometry) = (meta.tail(part), meta.geometry(part));
        let last = tail.len().saturating_sub(1);
        for page in TailPages::<ExclusiveLock>::of_blocks(self.index, geometry, &tail[last..]) {
            let page = page?;
            if !page.rows()?.is_full() {
                page.into_page().change(|words| {
                    RowPageMut::new(geometry, words).close();
                });
            }
        }
        // A page that was added meanwhile is not closed.
        Ok(tail.len())
    }

    /// Replaces the sources by one segment of their live rows, or by none if none are left.
    ///
    /// Errors: a damaged page, found before anything is written; out of memory.
    pub fn rewrite(&self, sources: &MergeSources) -> Result<()> {
        let index = self.index;
        let meta = meta::read(index);
        let part = sources.part;
        let tail = &meta.tail(part)[..sources.tail];
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
        for description in &old {
            self.look_through(description)?;
        }
        let rows = self.read_tail(geometry, tail)?;
        let (pool, used_up) = self.reusable(&meta, PageLog::Each)?;
        let mut retired = used_up.blocks.clone();
        retired.extend_from_slice(tail);
        for description in &old {
            retired.extend_from_slice(&description.blocks);
            retired.extend_from_slice(&description.map);
        }
        let segments = old.iter().map(|d| SegmentRows::new(index, d));
        let mut runs: Vec<RowRun<'_>> = segments.map(RowRun::Segment).collect();
        runs.push(RowRun::Memory(rows.sorted()?));
        let mut runs = SortedRuns::of(geometry, runs);
        let first = meta.next_generation;
        let memory = Self::memory();
        let (new, pool) = write_segments(part, &mut runs, pool, first, &self.options, memory)?;
        drop(runs);
        self.publish(pool, &new, sources, &used_up, retired);
        Ok(())
    }

    /// What a merge would stop at half-way is found before it begins. Otherwise it would leave pages that nobody needs,
    /// and be tried again.
    ///
    /// Errors: a damaged page.
    fn look_through(&self, description: &SegmentDescription) -> Result<()> {
        let mut reader = SegmentReader::new(self.index, description);
        for number in 0..description.segment.row_pages() {
            reader.checked(number)?;
            reader.tick();
        }
        Ok(())
    }

    /// The live rows of tail pages.
    ///
    /// Errors: a damaged page; out of memory.
    fn read_tail(&self, geometry: Geometry, tail: &[u32]) -> Result<RowsInMemory> {
        let mut collected = RowsInMemory::new(geometry);
        for page in TailPages::<SharedLock>::of_blocks(self.index, geometry, tail) {
            let page = page?;
            let rows = page.checked_rows()?;
            for row in (0..rows.len()).map(|i| rows.row(i)) {
                if row.tid != 0 {
                    collected.push(row)?;
                }
            }
        }
        Ok(collected)
    }
}
