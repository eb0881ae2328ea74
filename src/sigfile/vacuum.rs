//! VACUUM: dead rows are marked where they are; afterwards segments with many of them are
//! written anew, like those that are small.

use bloom_ident_core::sigfile::{posting, tiers, Geometry, RowPage, RowPageMut};
use bloom_ident_core::{Error, Result};
use pgrx::{pg_sys, PgBox};

use super::blocks::read_list;
use super::cache::{self, Loaded};
use super::meta::{Meta, Part};
use super::page::{self, Index, Kind, META};
use super::rewrite::{Publisher, Sources};
use super::store::check_places;
use crate::pg::error::OrRaise;
use crate::pg::{boundary, check_for_interrupts, entry, ffi};

/// What a pass over the index counts.
#[derive(Default)]
struct Counted {
    live: u64,
    removed: u64,
}

struct Pass {
    index: Index,
    callback: pg_sys::IndexBulkDeleteCallback,
    state: *mut std::ffi::c_void,
    counted: Counted,
}

impl Pass {
    /// A page of a segment.
    ///
    /// Errors: a damaged one.
    fn page_of(&mut self, loaded: &Loaded, number: u32) -> Result<u32> {
        let (segment, block) = (&loaded.segment, loaded.blocks[number as usize]);
        self.page(block, Kind::Rows, loaded.generation, |words| {
            segment.row_page(number, words)
        })
    }

    /// Errors: a damaged page.
    fn page_of_tail(&mut self, geometry: Geometry, block: u32) -> Result<u32> {
        self.page(block, Kind::Tail, 0, |words| {
            RowPage::growing(geometry, words)
        })
    }

    /// Buries rows that the callback calls dead. Returns the page's dead rows, old and new.
    fn page(
        &mut self,
        block: u32,
        kind: Kind,
        generation: u64,
        view: impl for<'a> FnOnce(&'a [u64]) -> Result<RowPage<'a>>,
    ) -> Result<u32> {
        let callback = self.callback.expect("VACUUM passes one");
        let index = self.index;
        let buffer = index.exclusive(block).expect(index, kind, generation)?;
        let here = |e: Error| index.damaged(block, e.message());
        let page = view(buffer.words()).map_err(here)?;
        check_places(&page).map_err(here)?;
        let geometry = *page.geometry();
        let (mut dead, mut found) = (0, Vec::new());
        found.reserve(page.len());
        let state = self.state;
        for i in 0..page.len() {
            let place = page.tid(i);
            if place == 0 {
                dead += 1;
                continue;
            }
            let mut tid = item_pointer(place);
            // SAFETY: the server's callback with its own state. That of CREATE INDEX CONCURRENTLY sorts places, and
            // can fail.
            if unsafe { boundary::call(|| callback(&raw mut tid, state)) } {
                found.push(i);
            } else {
                self.counted.live += 1;
            }
        }
        if !found.is_empty() {
            page::change(self.index, [&buffer], |[words]| {
                let mut page = RowPageMut::new(geometry, words);
                found.iter().for_each(|&i| page.mark_dead(i));
            });
        }
        drop(buffer);
        self.counted.removed += found.len() as u64;
        // SAFETY: looks for interrupts, and sleeps as VACUUM is told to.
        unsafe {
            #[cfg(not(feature = "pg18"))]
            ffi::vacuum_delay_point();
            #[cfg(feature = "pg18")]
            ffi::vacuum_delay_point(false);
        }
        Ok(dead + found.len() as u32)
    }
}

/// Block and offset from block · 2^16 + offset.
pub fn item_pointer(place: u64) -> pg_sys::ItemPointerData {
    let block = (place >> 16) as u32;
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData {
            bi_hi: (block >> 16) as u16,
            bi_lo: block as u16,
        },
        ip_posid: place as u16,
    }
}

#[cfg(feature = "pg15")]
fn heap_of(_info: &pg_sys::IndexVacuumInfo) -> pg_sys::Relation {
    std::ptr::null_mut()
}

#[cfg(not(feature = "pg15"))]
fn heap_of(info: &pg_sys::IndexVacuumInfo) -> pg_sys::Relation {
    info.heaprel
}

/// SAFETY: `stats` is NULL or of this VACUUM.
unsafe fn statistics(
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    if stats.is_null() {
        // SAFETY: zeroed, as VACUUM expects it.
        unsafe { PgBox::<pg_sys::IndexBulkDeleteResult>::alloc0().into_pg() }
    } else {
        stats
    }
}

#[entry]
pub unsafe extern "C-unwind" fn ambulkdelete(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    callback: pg_sys::IndexBulkDeleteCallback,
    state: *mut std::ffi::c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: called by VACUUM, or by CREATE INDEX CONCURRENTLY, which collects all places.
    unsafe {
        let info = &*info;
        let mut index = Index::new(info.index);
        let publisher = Publisher::wait(index, heap_of(info));
        let meta = Meta::read(index);
        index.strategy = info.strategy;
        let mut pass = Pass {
            index,
            callback,
            state,
            counted: Counted::default(),
        };
        let mut dead = Vec::new();
        for entry in &meta.segments {
            let loaded = cache::segment(index, &meta, entry).or_raise();
            let pages = loaded.segment.row_pages();
            let sum = (0..pages).map(|number| pass.page_of(&loaded, number).or_raise());
            dead.push((entry.generation, sum.sum::<u32>()));
        }
        // rows that come from now on have places that this VACUUM does not remove
        for part in Part::ALL {
            if meta.tails[part as usize].is_empty() {
                continue;
            }
            let geometry = meta.geometry(part);
            for &block in &meta.tails[part as usize] {
                pass.page_of_tail(geometry, block).or_raise();
            }
        }
        if dead.iter().zip(&meta.segments).any(|(d, s)| d.1 != s.dead) {
            let buffer = index.exclusive(META);
            let mut meta = Meta::decode(index, &buffer);
            for entry in &mut meta.segments {
                if let Some((_, sum)) = dead.iter().find(|(g, _)| *g == entry.generation) {
                    entry.dead = *sum;
                }
            }
            meta.store(index, &buffer);
        }
        drop(publisher);
        let stats = statistics(stats);
        (*stats).tuples_removed += pass.counted.removed as f64;
        (*stats).num_index_tuples = pass.counted.live as f64;
        (*stats).estimated_count = false;
        stats
    }
}

/// Share of dead rows from which on a segment is written anew.
const DEAD: f64 = 0.2;

/// VACUUM seals tails of that share of their limit.
const SEALED: u32 = 4;

/// Seals the tail and merges segments. `all`: everything into as few segments as can be.
///
/// Errors: a damaged page; out of memory.
pub fn compact(publisher: &Publisher, all: bool) -> Result<()> {
    let index = publisher.index;
    for part in Part::ALL {
        let meta = Meta::read(index);
        let of_part: Vec<_> = meta.segments.iter().filter(|s| s.part == part).collect();
        if of_part.is_empty() && meta.tails[part as usize].is_empty() {
            continue;
        }
        let geometry = meta.geometry(part);
        let limit = publisher.options.tail_limit(geometry.stride);
        let pages = meta.tails[part as usize].len() as u32;
        let tail = if pages > 0 && (all || pages * geometry.capacity as u32 >= limit / SEALED) {
            publisher.close_tail(part)?
        } else {
            0
        };
        let most = u64::from(posting::MAX_ROWS);
        let tail_rows = tail as u64 * geometry.capacity as u64;
        let mut sizes: Vec<u64> = of_part.iter().map(|s| u64::from(s.rows - s.dead)).collect();
        let dead = |i: usize| f64::from(of_part[i].dead) >= DEAD * f64::from(of_part[i].rows);
        // what a merge writes is what it takes, so a large segment is not taken for a small tail
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let rest = sizes.iter().sum::<u64>() - largest + tail_rows;
        let chosen: Vec<usize> = (0..of_part.len())
            .filter(|&i| all || dead(i) || sizes[i] < largest || rest * 4 >= largest)
            .collect();
        sizes = chosen.iter().map(|&i| sizes[i]).collect();
        let tail_at = sizes.len();
        if tail > 0 {
            sizes.push(tail_rows);
        }
        let worth =
            |i: usize| i == tail_at || dead(chosen[i]) || (all && of_part[chosen[i]].dead > 0);
        for group in tiers::groups(&sizes, most, worth) {
            publisher.rewrite(&Sources {
                part,
                segments: group
                    .iter()
                    .filter(|&&i| i != tail_at)
                    .map(|&i| of_part[chosen[i]].generation)
                    .collect(),
                tail: if group.contains(&tail_at) { tail } else { 0 },
            })?;
        }
    }
    Ok(())
}

/// Rows of these parts that are not dead.
///
/// Errors: a damaged page.
fn live_rows(index: Index, meta: &Meta, parts: &[Part]) -> Result<u64> {
    let segments = meta.segments.iter().filter(|s| parts.contains(&s.part));
    let mut live: u64 = segments.map(|s| u64::from(s.rows - s.dead)).sum();
    for &part in parts {
        for &block in &meta.tails[part as usize] {
            let buffer = index.share(block).expect(index, Kind::Tail, 0)?;
            let page = RowPage::growing(meta.geometry(part), buffer.words())
                .map_err(|e| index.damaged(block, e.message()))?;
            live += (0..page.len()).filter(|&i| page.tid(i) != 0).count() as u64;
            drop(buffer);
            check_for_interrupts();
        }
    }
    Ok(live)
}

#[entry]
pub unsafe extern "C-unwind" fn amvacuumcleanup(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: called by VACUUM or ANALYZE.
    unsafe {
        let info = &*info;
        if info.analyze_only {
            return stats;
        }
        let index = Index::new(info.index);
        let publisher = Publisher::wait(index, heap_of(info));
        let signatures = live_rows(index, &Meta::read(index), &[Part::Signatures]).or_raise();
        // without any, the tail goes too, and with it the shape
        compact(&publisher, signatures == 0).or_raise();
        publisher.sweep().or_raise();
        let meta = Meta::read(index);
        let stats = statistics(stats);
        if (*stats).num_index_tuples == 0.0 {
            // nothing was to be deleted; the table may have rows that a partial index has not
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
