//! Building the index over a table.

use super::merge_lock::needs_wal;
use super::{check_shape, IndexRow};
use crate::class::options::SigfileOptions;
use crate::class::{leading, SignatureType};
use crate::meta;
use crate::page::chain::write_chain;
use crate::page::{
    write_initial, BlankPage, PageGuard, PageKind, PageLog, SharedLock, SigfileIndex, META,
};
use crate::read::describe;
use crate::sort::{RowSort, SortedRows};
use base::Result;
use pg::error::OrRaise;
use pg::{check_for_interrupts, entry, ffi, interrupts_are_pending};
use pgrx::{pg_sys, PgBox};
use sigfile::posting::MAX_ROWS;
use sigfile::write::{Content, PageStore, Writer};
use sigfile::{Meta, Pages, Part, RowShape, Segment, SegmentEntry};
use signature::filter::is_full;
use types::warn_of_full;

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

/// The names of the phases that `pg_stat_progress_create_index` shows.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
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

struct BuildState<'r> {
    index: SigfileIndex<'r>,
    signatures: SignatureType,
    meta: Meta,
    rows: [Option<RowSort>; 2],
    count: u64,
    /// Only dead rows have come so far, which old snapshots may still see.
    only_dead: bool,
    /// Dead rows of another shape were left out, so that old snapshots must not use the index.
    left_out: bool,
    /// Signatures that are alive, and those of them that are full.
    signed: u64,
    full: u64,
    /// Bytes for rows: half of maintenance_work_mem, since the postings of what fits take as much.
    memory: usize,
}

impl BuildState<'_> {
    fn add(&mut self, new: &IndexRow, alive: bool) {
        let part = new.part();
        if part == Part::Signatures {
            let other = self.meta.shape() != 0 && self.meta.shape() != new.shape;
            if other && !alive {
                self.left_out = true;
                return;
            }
            if other && self.only_dead {
                self.left_out = true;
                self.rows[part as usize] = None;
                self.meta.set_shape(0).or_raise();
            }
            self.only_dead &= !alive;
            if self.meta.shape() == 0 {
                self.meta.set_shape(new.shape).or_raise();
            }
            check_shape(self.index, self.meta.shape(), new);
            if let (RowShape::Filter(shape), true) = (RowShape::of_tag(new.shape), alive) {
                self.signed += 1;
                self.full += u64::from(is_full(new.popcount, shape.m()));
            }
        }
        let geometry = self.meta.geometry(part);
        let memory = self.memory;
        let rows = self.rows[part as usize].get_or_insert_with(|| RowSort::new(geometry, memory));
        rows.push(new.row()).or_raise();
        self.count += 1;
    }
}

/// Takes one row of the table.
///
/// # Safety
/// The server calls it from ambuild, with what that has passed.
#[entry]
unsafe extern "C-unwind" fn add_row(
    _index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    alive: bool,
    state: *mut std::ffi::c_void,
) {
    // SAFETY: the server passes `state` on from ambuild, and the values of the index's columns.
    unsafe {
        let build = &mut *state.cast::<BuildState<'_>>();
        let kind = (build.signatures, build.meta.thresholds());
        let new = IndexRow::new(build.index, kind, values, nulls, tid);
        build.add(&new, alive);
    }
}

/// Builds the index.
///
/// Errors: signatures of several shapes; out of memory.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn ambuild(
    heap: pg_sys::Relation,
    relation: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: the server passes relations that it keeps open. `build` is borrowed by nobody else while rows are added
    // to it.
    unsafe {
        let index = SigfileIndex::new(relation);
        if index.blocks() != 0 {
            pg::error::internal!("index \"{}\" already contains data", index.name());
        }
        leading::check(index);
        let memory = pg_sys::maintenance_work_mem as usize * 1024;
        let mut build = BuildState {
            index,
            signatures: SignatureType::new(index),
            meta: meta::empty(index),
            rows: Default::default(),
            count: 0,
            only_dead: true,
            left_out: false,
            signed: 0,
            full: 0,
            memory: memory / 2,
        };
        // The block of the metapage is the first.
        let encode = |meta: &Meta, page: BlankPage<'_>| {
            page.write(PageLog::Later, PageKind::Meta, 0, |words| {
                meta.encode(words)
            });
        };
        encode(&build.meta, index.extended());
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
        warn_of_full(&build.index.name(), build.full, build.signed);
        progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, phase::WRITE);
        progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_TOTAL, build.count as i64);
        let options = SigfileOptions::new(index);
        let mut meta = build.meta;
        for (part, rows) in Part::ALL.into_iter().zip(build.rows) {
            let Some(rows) = rows else { continue };
            let (rows, first) = (rows.finish(), meta.next_generation);
            let written = write_segments(index, part, rows, first, &options, memory / 2);
            let new = written.or_raise();
            meta.next_generation += new.len() as u64;
            meta.segments.extend(new);
        }
        progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, build.count as i64);
        meta.check_size().or_raise();
        encode(&meta, index.exclusive(META).blank());
        if needs_wal(index) {
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

/// Writes the initial fork of an unlogged index.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn ambuildempty(relation: pg_sys::Relation) {
    // SAFETY: the server passes an unlogged index that it has just created.
    unsafe {
        let meta = meta::empty(SigfileIndex::new(relation));
        write_initial(relation, |words| meta.encode(words));
    }
}

// The segment writer: rows in the order of their popcounts become segments on new pages.

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
        let map = write_chain(log, &words, META, || {
            check_for_interrupts();
            self.index.extended()
        });
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
