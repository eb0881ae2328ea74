//! Building the index over a table.

use bloom_ident_core::sigfile::Geometry;
use pgrx::{pg_sys, PgBox};

use super::publish::needs_wal;
use super::{check_shape, write_segments, BlockPool, IndexRow};
use crate::pg::error::OrRaise;
use crate::pg::{entry, ffi};
use crate::sigfile::class::has_thresholds;
use crate::sigfile::class::options::SigfileOptions;
use crate::sigfile::meta::{Meta, Part};
use crate::sigfile::page::{self, PageKind, PageLog, SigfileIndex, META};
use crate::sigfile::sort::ExternalSort;

/// Phases that pg_stat_progress_create_index shows; 1 is PostgreSQL's own "initializing".
mod phase {
    pub const SCAN: i64 = 2;
    pub const WRITE: i64 = 3;
    pub const LOG: i64 = 4;
}

fn progress(parameter: u32, value: i64) {
    // SAFETY: a counter of this backend.
    unsafe { pg_sys::pgstat_progress_update_param(parameter as i32, value) };
}

#[entry]
pub unsafe extern "C-unwind" fn ambuildphasename(phase: i64) -> *mut std::ffi::c_char {
    let name = match phase {
        1 => c"initializing",
        phase::SCAN => c"scanning table",
        phase::WRITE => c"writing segments",
        phase::LOG => c"logging pages",
        _ => return std::ptr::null_mut(),
    };
    name.as_ptr().cast_mut()
}

struct BuildState {
    index: SigfileIndex,
    meta: Meta,
    rows: [Option<ExternalSort>; 2],
    count: u64,
    /// Only dead rows have come so far, which old snapshots may still see.
    only_dead: bool,
    /// Dead rows of another shape were left out, so that old snapshots must not use the index.
    left_out: bool,
    /// Bytes for rows: half of maintenance_work_mem, since the postings of what fits take as much.
    memory: usize,
}

impl BuildState {
    fn add(&mut self, new: &IndexRow, alive: bool) {
        let part = new.part();
        if part == Part::Signatures {
            let other = self.meta.shape != 0 && self.meta.shape != new.shape;
            if other && !alive {
                self.left_out = true;
                return;
            }
            if other && self.only_dead {
                self.left_out = true;
                self.rows[part as usize] = None;
                self.meta.shape = 0;
            }
            self.only_dead &= !alive;
            if self.meta.shape == 0 {
                self.meta.shape = new.shape;
            }
            check_shape(self.index, self.meta.shape, new);
        }
        let geometry = self.meta.geometry(part);
        let memory = self.memory;
        let rows =
            self.rows[part as usize].get_or_insert_with(|| ExternalSort::new(geometry, memory));
        rows.push(new.row()).or_raise();
        self.count += 1;
    }
}

/// Takes one row of the table.
#[entry]
unsafe extern "C-unwind" fn add_row(
    _index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    alive: bool,
    state: *mut std::ffi::c_void,
) {
    // SAFETY: `state` is what ambuild passed; one column.
    unsafe {
        let build = &mut *state.cast::<BuildState>();
        let new = IndexRow::of(build.meta.thresholds, *values, *nulls, tid);
        build.add(&new, alive);
    }
}

#[entry]
pub unsafe extern "C-unwind" fn ambuild(
    heap: pg_sys::Relation,
    relation: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: called by the server with open relations.
    unsafe {
        let index = SigfileIndex::new(relation);
        if index.blocks() != 0 {
            crate::pg::error::internal!("index \"{}\" already contains data", index.name());
        }
        let memory = pg_sys::maintenance_work_mem as usize * 1024;
        let mut build = BuildState {
            index,
            meta: Meta::new(has_thresholds(index)),
            rows: Default::default(),
            count: 0,
            only_dead: true,
            left_out: false,
            memory: memory / 2,
        };
        // its block is the first
        let buffer = index.extended();
        page::write(index, &buffer, PageLog::Later, PageKind::Meta, 0, |words| {
            build.meta.encode(words)
        });
        drop(buffer);
        progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, phase::SCAN);
        let heap_tuples = ffi::table_index_build_scan(
            heap,
            relation,
            info,
            true,
            true,
            Some(add_row),
            (&raw mut build).cast(),
            std::ptr::null_mut(),
        );
        if build.left_out {
            (*info).ii_BrokenHotChain = true;
        }
        progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, phase::WRITE);
        progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_TOTAL, build.count as i64);
        let options = SigfileOptions::of(index);
        let mut pool = BlockPool {
            index,
            log: PageLog::Later,
            free: Vec::new(),
        };
        let mut meta = build.meta;
        for (part, rows) in Part::ALL.into_iter().zip(build.rows) {
            let Some(rows) = rows else { continue };
            let mut runs = rows.finish().or_raise();
            let geometry: Geometry = meta.geometry(part);
            let (new, rest) = write_segments(
                geometry,
                part,
                &mut runs,
                pool,
                meta.next_generation,
                &options,
                memory / 2,
            )
            .or_raise();
            pool = rest;
            meta.next_generation += new.len() as u64;
            meta.segments.extend(new);
        }
        progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, build.count as i64);
        meta.check_size();
        let buffer = index.exclusive(META);
        page::write(index, &buffer, PageLog::Later, PageKind::Meta, 0, |words| {
            meta.encode(words)
        });
        drop(buffer);
        if needs_wal(relation) {
            progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, phase::LOG);
            pg_sys::log_newpage_range(
                relation,
                pg_sys::ForkNumber::MAIN_FORKNUM,
                0,
                index.blocks(),
                true,
            );
        }
        let mut result = PgBox::<pg_sys::IndexBuildResult>::alloc0();
        result.heap_tuples = heap_tuples;
        result.index_tuples = build.count as f64;
        result.into_pg()
    }
}

#[entry]
pub unsafe extern "C-unwind" fn ambuildempty(relation: pg_sys::Relation) {
    // SAFETY: called by the server for an unlogged index.
    unsafe {
        let meta = Meta::new(has_thresholds(SigfileIndex::new(relation)));
        page::write_initial(relation, |words| meta.encode(words));
    }
}
