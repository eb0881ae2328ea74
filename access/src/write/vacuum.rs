//! VACUUM: dead rows are marked where they are; afterwards segments with many of them are
//! written anew, like those that are small.

use base::{Error, Result};
use pgrx::{pg_sys, PgBox};
use sigfile::{Meta, Part, RowPage, RowPageMut, RowPages, SegmentEntry, SegmentMerge};

use super::merging::change_merge;
use super::{Compaction, MergeLock};
use crate::meta;
use crate::page::{ExclusiveLock, PageGuard, PageKind, SigfileIndex, SigfileTable};
use crate::read::{self, check_tids, work_list, TailBlocks};
use pg::error::OrRaise;
use pg::tid::Tid;
use pg::{boundary, check_for_interrupts, entry, ffi};

/// Rounds over what merges have written meanwhile, without the merge lock: then it is held until nothing is left.
const ROUNDS: usize = 4;

/// VACUUM's pass over the index.
///
/// It does not keep anybody from merging, as rows are copied from pages that may not have been looked at yet: what a
/// merge has written in the meantime is looked at afterwards. The rest is done with the merge lock, and takes no longer
/// than a merge needs to wait: segments that have come since, the pages of merges in progress, and the tails.
struct BulkDelete<'r> {
    index: SigfileIndex<'r>,
    callback: pg_sys::IndexBulkDeleteCallback,
    /// What the callback is called with.
    state: *mut std::ffi::c_void,
    removed: u64,
    /// Generations of segments that were looked at, and their dead rows.
    done: Vec<(u64, u32)>,
    /// VACUUM may sleep between two pages.
    may_sleep: bool,
}

impl BulkDelete<'_> {
    /// The segments that were not looked at yet. One whose pages are used for something else has been merged meanwhile.
    ///
    /// Errors: a damaged page; out of memory.
    fn segments(&mut self) -> Result<()> {
        let meta = meta::read(self.index);
        self.done
            .retain(|(g, _)| meta.segments.iter().any(|s| s.generation == *g));
        for entry in &meta.segments {
            if self.done.iter().any(|(g, _)| *g == entry.generation) {
                continue;
            }
            match self.segment(&meta, entry) {
                Ok(dead) => self.done.push((entry.generation, dead)),
                Err(e) => {
                    let now = meta::read(self.index);
                    if now
                        .segments
                        .iter()
                        .any(|s| s.generation == entry.generation)
                    {
                        return Err(e);
                    }
                }
            }
        }
        Ok(())
    }

    /// The pages of rows of a segment. Returns its dead rows, old and new.
    ///
    /// Errors: a damaged page; out of memory.
    fn segment(&mut self, meta: &Meta, entry: &SegmentEntry) -> Result<u32> {
        let description = read::segment(self.index, meta, entry)?;
        let segment = &description.segment;
        let mut dead = 0;
        for (number, &block) in (0..segment.row_pages()).zip(&description.blocks) {
            let page = self.index.exclusive(block);
            let page = page.expect(PageKind::Rows, description.generation)?;
            dead += self.page(page, |words| segment.row_page(number, words))?;
        }
        Ok(dead)
    }

    /// Whether segments have come since.
    fn is_behind(&self) -> bool {
        let meta = meta::read(self.index);
        let mut segments = meta.segments.iter();
        segments.any(|s| self.done.iter().all(|(g, _)| *g != s.generation))
    }

    /// The pages of rows that a merge has written so far. Returns its dead rows, old and new.
    ///
    /// Errors: a damaged page; out of memory.
    fn merge(&mut self, meta: &Meta, merge: &SegmentMerge) -> Result<u32> {
        let geometry = meta.geometry(merge.part);
        let list = work_list(self.index, merge)?;
        let rows = RowPages {
            geometry,
            rows: merge.rows,
            present: merge.rows,
        };
        let row_pages = geometry.pages(merge.rows) as usize;
        let mut dead = 0;
        for (number, block) in list.blocks().enumerate().take(row_pages) {
            let page = self.index.exclusive(block);
            let page = page.expect(PageKind::Rows, merge.generation)?;
            dead += self.page(page, |words| rows.page(number as u32, words))?;
        }
        Ok(dead)
    }

    /// Marks rows dead that the callback calls dead. Returns the page's dead rows, old and new.
    ///
    /// Errors: a damaged page.
    fn page(
        &mut self,
        mut page: PageGuard<'_, ExclusiveLock>,
        view: impl for<'a> FnOnce(&'a [u64]) -> Result<RowPage<'a>>,
    ) -> Result<u32> {
        let (callback, state) = (self.callback.expect("VACUUM passes one"), self.state);
        let (index, block) = (self.index, page.block());
        let here = |e: Error| index.damaged(block, e.message());
        let rows = view(page.words()).map_err(here)?;
        check_tids(&rows).map_err(here)?;
        let geometry = *rows.geometry();
        let (mut dead, mut found) = (0, Vec::new());
        found.reserve(rows.len());
        for i in 0..rows.len() {
            let tid = rows.tid(i);
            if tid == 0 {
                dead += 1;
                continue;
            }
            let mut tid = Tid::of_stored(tid).pointer();
            // SAFETY: the server's callback with its own state. That of CREATE INDEX CONCURRENTLY sorts tids, and
            // can fail.
            if unsafe { boundary::call(|| callback(&raw mut tid, state)) } {
                found.push(i);
            }
        }
        if !found.is_empty() {
            page.change(|words| {
                let mut rows = RowPageMut::new(geometry, words);
                found.iter().for_each(|&i| rows.mark_dead(i));
            });
        }
        drop(page);
        self.removed += found.len() as u64;
        match self.may_sleep {
            true => vacuum_pause(),
            false => check_for_interrupts(),
        }
        Ok(dead + found.len() as u32)
    }
}

/// A turn for VACUUM, while no page is locked.
fn vacuum_pause() {
    // SAFETY: the server looks for interrupts, and sleeps as VACUUM is told to.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        ffi::vacuum_delay_point();
        #[cfg(feature = "pg18")]
        ffi::vacuum_delay_point(false);
    }
}

#[cfg(feature = "pg15")]
fn table_of(_info: &pg_sys::IndexVacuumInfo) -> SigfileTable<'_> {
    SigfileTable::UNKNOWN
}

#[cfg(not(feature = "pg15"))]
fn table_of(info: &pg_sys::IndexVacuumInfo) -> SigfileTable<'_> {
    // SAFETY: VACUUM keeps the table open, and the description of its work as long.
    unsafe { SigfileTable::new(info.heaprel) }
}

/// What VACUUM counts with: new zeroes, if there is nothing yet.
fn statistics(stats: *mut pg_sys::IndexBulkDeleteResult) -> *mut pg_sys::IndexBulkDeleteResult {
    if stats.is_null() {
        // SAFETY: all zero is a value of that type.
        unsafe { PgBox::<pg_sys::IndexBulkDeleteResult>::alloc0().into_pg() }
    } else {
        stats
    }
}

/// Marks rows dead that VACUUM has found dead; CREATE INDEX CONCURRENTLY collects all tids by it.
///
/// Errors: a damaged index.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn ambulkdelete(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    callback: pg_sys::IndexBulkDeleteCallback,
    state: *mut std::ffi::c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: VACUUM, or CREATE INDEX CONCURRENTLY, which collects all tids, passes a description of its work that is
    // there until this returns, with an open index and a strategy; `statistics` returns what may be written.
    unsafe {
        let info = &*info;
        let index = SigfileIndex::new(info.index);
        let table = table_of(info);
        let mut pass = BulkDelete {
            index: index.with_strategy(info.strategy),
            callback,
            state,
            removed: 0,
            done: Vec::new(),
            may_sleep: true,
        };
        for _ in 0..ROUNDS {
            pass.segments().or_raise();
            if !pass.is_behind() {
                break;
            }
        }
        let lock = MergeLock::wait(index, table);
        pass.may_sleep = false;
        pass.segments().or_raise();
        let meta = meta::read(index);
        for merge in &lock.merges(&meta).or_raise() {
            let dead = pass.merge(&meta, merge).or_raise();
            if dead != merge.dead {
                let set = |merge: &mut SegmentMerge| merge.dead = dead;
                change_merge(index, &meta, merge.generation, set).or_raise();
            }
        }
        // Rows that come from now on have tids that this VACUUM does not remove.
        for part in Part::ALL {
            let geometry = meta.geometry(part);
            let blocks = TailBlocks::new(&meta, part);
            for page in blocks.exclusive(pass.index) {
                let page = page.or_raise().into_page();
                let marked = pass.page(page, |words| RowPage::growing(geometry, words));
                marked.or_raise();
            }
        }
        let dead = &pass.done;
        let differs = |s: &SegmentEntry| dead.iter().any(|d| d.0 == s.generation && d.1 != s.dead);
        if meta.segments.iter().any(differs) {
            meta::change(index, |meta| {
                for entry in &mut meta.segments {
                    if let Some((_, sum)) = dead.iter().find(|(g, _)| *g == entry.generation) {
                        entry.dead = *sum;
                    }
                }
            });
        }
        let live = live_rows(&lock, &Part::ALL).or_raise();
        drop(lock);
        let stats = statistics(stats);
        (*stats).tuples_removed += pass.removed as f64;
        (*stats).num_index_tuples = live as f64;
        (*stats).estimated_count = false;
        stats
    }
}

/// Rows of these parts that are not dead. Without the lock a tail could be sealed meanwhile, and its pages used again:
/// nobody waits with that for the snapshot of a VACUUM.
///
/// Errors: a damaged page.
fn live_rows(lock: &MergeLock<'_>, parts: &[Part]) -> Result<u64> {
    let meta = &meta::read(lock.index);
    let segments = meta.segments.iter().filter(|s| parts.contains(&s.part));
    let mut live: u64 = segments.map(|s| u64::from(s.rows - s.dead)).sum();
    for &part in parts {
        for page in TailBlocks::new(meta, part).shared(lock.index) {
            live += page?.live_rows()?;
        }
    }
    Ok(live)
}

/// Seals and merges after VACUUM, and counts.
///
/// Errors: a damaged index; out of memory.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn amvacuumcleanup(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: VACUUM or ANALYZE passes a description of its work that is there until this returns, with an open index;
    // `statistics` returns what may be written.
    unsafe {
        let info = &*info;
        if info.analyze_only {
            return stats;
        }
        let index = SigfileIndex::new(info.index);
        let table = table_of(info);
        let lock = MergeLock::wait(index, table);
        let signatures = live_rows(&lock, &[Part::Signatures]).or_raise();
        drop(lock);
        let compaction = Compaction {
            index,
            table,
            // Without any, the tail goes, too, and with it the shape.
            all: signatures == 0,
            pause: vacuum_pause,
        };
        compaction.run_and_truncate().or_raise();
        let stats = statistics(stats);
        if (*stats).num_index_tuples == 0.0 {
            // Nothing was to be deleted; the table may have rows that a partial index has not.
            let lock = MergeLock::wait(index, table);
            (*stats).num_index_tuples = live_rows(&lock, &Part::ALL).or_raise() as f64;
            (*stats).estimated_count = false;
        }
        let meta = meta::read(index);
        (*stats).num_pages = index.blocks();
        (*stats).pages_free = meta.free.iter().map(|list| list.blocks).sum();
        stats
    }
}
