//! VACUUM: dead rows are marked where they are; afterwards segments with many of them are
//! written anew, like those that are small.

use bloom_ident_core::sigfile::{Geometry, Meta, Part, RowPage, RowPageMut};
use bloom_ident_core::{Error, Result};
use pgrx::{pg_sys, PgBox};

use super::{compact, MergeLock};
use crate::pg::error::OrRaise;
use crate::pg::tid::Tid;
use crate::pg::{boundary, entry, ffi};
use crate::sigfile::meta;
use crate::sigfile::page::{ExclusiveLock, PageGuard, PageKind, SigfileIndex, SigfileTable, META};
use crate::sigfile::read::{cache, check_tids, read_list, SegmentDescription, TailPage, TailPages};

/// What a pass over the index counts.
#[derive(Default)]
struct VacuumCounts {
    live: u64,
    removed: u64,
}

/// VACUUM's pass over the index.
struct BulkDelete<'r> {
    index: SigfileIndex<'r>,
    callback: pg_sys::IndexBulkDeleteCallback,
    /// What the callback is called with.
    state: *mut std::ffi::c_void,
    counted: VacuumCounts,
}

impl BulkDelete<'_> {
    /// A page of a segment. Returns its dead rows, old and new.
    ///
    /// Errors: a damaged page.
    fn segment_page(&mut self, description: &SegmentDescription, number: u32) -> Result<u32> {
        let (segment, block) = (&description.segment, description.blocks[number as usize]);
        let page = self.index.exclusive(block);
        let page = page.expect(PageKind::Rows, description.generation)?;
        self.page(page, |words| segment.row_page(number, words))
    }

    /// A page of a tail. Returns its dead rows, old and new.
    ///
    /// Errors: a damaged page.
    fn tail_page(&mut self, page: TailPage<'_, ExclusiveLock>, geometry: Geometry) -> Result<u32> {
        self.page(page.into_page(), |words| RowPage::growing(geometry, words))
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
            } else {
                self.counted.live += 1;
            }
        }
        if !found.is_empty() {
            page.change(|words| {
                let mut rows = RowPageMut::new(geometry, words);
                found.iter().for_each(|&i| rows.mark_dead(i));
            });
        }
        drop(page);
        self.counted.removed += found.len() as u64;
        // SAFETY: no page is locked. The server looks for interrupts, and sleeps as VACUUM is told to.
        unsafe {
            #[cfg(not(feature = "pg18"))]
            ffi::vacuum_delay_point();
            #[cfg(feature = "pg18")]
            ffi::vacuum_delay_point(false);
        }
        Ok(dead + found.len() as u32)
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
        let lock = MergeLock::wait(index, table_of(info));
        let meta = meta::read(index);
        let index = index.with_strategy(info.strategy);
        let mut pass = BulkDelete {
            index,
            callback,
            state,
            counted: VacuumCounts::default(),
        };
        let mut dead = Vec::new();
        for entry in &meta.segments {
            let description = cache::segment(index, &meta, entry).or_raise();
            let pages = 0..description.segment.row_pages();
            let sum = pages.map(|number| pass.segment_page(&description, number).or_raise());
            dead.push((entry.generation, sum.sum::<u32>()));
        }
        // Rows that come from now on have tids that this VACUUM does not remove.
        for part in Part::ALL {
            for page in TailPages::exclusive(index, &meta, part) {
                let geometry = meta.geometry(part);
                pass.tail_page(page.or_raise(), geometry).or_raise();
            }
        }
        if dead.iter().zip(&meta.segments).any(|(d, s)| d.1 != s.dead) {
            let mut metapage = index.exclusive(META);
            let mut meta = meta::of_page(&metapage);
            for entry in &mut meta.segments {
                if let Some((_, sum)) = dead.iter().find(|(g, _)| *g == entry.generation) {
                    entry.dead = *sum;
                }
            }
            meta::store(&meta, &mut metapage);
        }
        drop(lock);
        let stats = statistics(stats);
        (*stats).tuples_removed += pass.counted.removed as f64;
        (*stats).num_index_tuples = pass.counted.live as f64;
        (*stats).estimated_count = false;
        stats
    }
}

/// Rows of these parts that are not dead.
///
/// Errors: a damaged page.
fn live_rows(index: SigfileIndex<'_>, meta: &Meta, parts: &[Part]) -> Result<u64> {
    let segments = meta.segments.iter().filter(|s| parts.contains(&s.part));
    let mut live: u64 = segments.map(|s| u64::from(s.rows - s.dead)).sum();
    for &part in parts {
        for page in TailPages::new(index, meta, part) {
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
        let lock = MergeLock::wait(index, table_of(info));
        let signatures = live_rows(index, &meta::read(index), &[Part::Signatures]).or_raise();
        // Without any, the tail goes, too, and with it the shape.
        compact(&lock, signatures == 0).or_raise();
        lock.sweep().or_raise();
        let meta = meta::read(index);
        let stats = statistics(stats);
        if (*stats).num_index_tuples == 0.0 {
            // Nothing was to be deleted; the table may have rows that a partial index has not.
            (*stats).num_index_tuples = live_rows(index, &meta, &Part::ALL).or_raise() as f64;
            (*stats).estimated_count = false;
        }
        (*stats).num_pages = index.blocks();
        let mut free = 0;
        for list in &meta.free {
            let (blocks, pages) = read_list(index, list).or_raise();
            free += blocks.len() + pages.len();
        }
        (*stats).pages_free = free as u32;
        stats
    }
}
