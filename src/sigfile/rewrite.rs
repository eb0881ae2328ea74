//! Sealing the tail and merging segments: new segments are written beside the old ones, and take their
//! place by one change of the metapage. The old pages are used again when no snapshot, here or
//! on a standby, can belong to a search that still reads them.

use std::rc::Rc;

use bloom_ident_core::sigfile::posting::MAX_ROWS;
use bloom_ident_core::sigfile::write::Writer;
use bloom_ident_core::sigfile::{Geometry, Pages, RowPage, RowPageMut, SignatureRow};
use bloom_ident_core::{Error, Result};
use pgrx::pg_sys;

use super::blocks::{in_use, read_list};
use super::cache::{self, Loaded};
use super::meta::{Entry, FreeList, Meta, Part, MAX_FREE};
use super::options::Options;
use super::page::{self, Index, Kind, Log, META};
use super::runs::{merge, sorted, Collected, Merged, Run};
use super::store::{check_places, NewPages, Pool, Reader};
use crate::pg::{check_for_interrupts, ffi};

/// The right to publish segments: the heavyweight lock on the metapage's block. VACUUM holds it from
/// the first page to the last, so that no row moves past it.
pub struct Publisher {
    pub index: Index,
    /// NULL if not known.
    pub heap: pg_sys::Relation,
    pub options: Options,
}

const LOCK: pg_sys::LOCKMODE = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;

impl Drop for Publisher {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: locked since construction.
            unsafe { pg_sys::UnlockPage(self.index.relation, META, LOCK) };
        }
    }
}

/// What a rewriting takes.
pub struct Sources {
    pub part: Part,
    /// Generations of segments.
    pub segments: Vec<u64>,
    /// Pages of the tail, from its beginning: full or closed.
    pub tail: usize,
}

impl Publisher {
    /// Waits for the lock.
    pub fn wait(index: Index, heap: pg_sys::Relation) -> Publisher {
        // SAFETY: the relation is open.
        unsafe { ffi::LockPage(index.relation, META, LOCK) };
        Publisher {
            index,
            heap,
            options: Options::of(index),
        }
    }

    /// `None` while somebody else has the lock.
    pub fn now(index: Index, heap: pg_sys::Relation) -> Option<Publisher> {
        // SAFETY: the relation is open.
        unsafe { pg_sys::ConditionalLockPage(index.relation, META, LOCK) }.then(|| Publisher {
            index,
            heap,
            options: Options::of(index),
        })
    }

    /// Bytes of memory for sorting.
    fn memory() -> usize {
        // SAFETY: a setting.
        unsafe { pg_sys::maintenance_work_mem as usize * 1024 }
    }

    /// Closes the last page of a tail, so that all of it can be sealed. Returns its number of pages.
    ///
    /// Errors: a damaged page.
    pub fn close_tail(&self, part: Part) -> Result<usize> {
        let meta = Meta::read(self.index);
        let tail = &meta.tails[part as usize];
        if let Some(&last) = tail.last() {
            let buffer = self.index.exclusive(last);
            let buffer = buffer.expect(self.index, Kind::Tail, 0)?;
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
    pub fn rewrite(&self, sources: &Sources) -> Result<()> {
        let index = self.index;
        let meta = Meta::read(index);
        let part = sources.part;
        let log = Log::Each;
        let tail = &meta.tails[part as usize][..sources.tail];
        if tail.is_empty() && sources.segments.is_empty() {
            return Ok(());
        }
        let geometry = meta.geometry(part);
        let old = meta.segments.iter();
        let old: Result<Vec<Rc<Loaded>>> = old
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
        let mut runs: Vec<Run> = old
            .iter()
            .map(|loaded| Run::Merged(Merged::new(index, loaded)))
            .collect();
        runs.push(Run::Collected(sorted(rows)));
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
    fn look_through(&self, loaded: &Loaded) -> Result<()> {
        let mut reader = Reader::new(self.index, loaded);
        for number in 0..loaded.segment.row_pages() {
            reader.checked(number)?;
            reader.tick();
        }
        Ok(())
    }

    /// The rows of tail pages.
    ///
    /// Errors: a damaged page; out of memory.
    fn read_tail(&self, geometry: Geometry, tail: &[u32]) -> Result<Collected> {
        let mut rows = Collected::new(geometry);
        for &block in tail {
            let here = |e: Error| self.index.locate(e.on_page(0), &[block]);
            let buffer = self.index.share(block).expect(self.index, Kind::Tail, 0)?;
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

    /// Blocks that nobody can be reading any more. Lists are used up as a whole: what a rewriting leaves of
    /// them is listed anew, as are the pages of the lists. When too many lists wait for old
    /// snapshots, they are joined, to wait together. A block that is in use, listed twice, or not there is left out: the last can be so
    /// on a standby that was promoted, which never got a page that its primary lost in a crash.
    ///
    /// Errors: damaged lists or descriptions; out of memory.
    fn reusable(&self, meta: &Meta, log: Log) -> Result<(Pool, Consumed)> {
        let index = self.index;
        let mut pool = Pool {
            index,
            log,
            free: Vec::new(),
        };
        let mut consumed = Consumed::default();
        // what tails have got since is in none of the lists
        let mut used = in_use(index, meta, index.blocks())?;
        let crowded = meta.free.len() + 2 > MAX_FREE;
        for (i, list) in meta.free.iter().enumerate() {
            let removable = self.is_past(list.horizon);
            // the older half keeps its horizons, and so comes free in time
            let joined = crowded && i >= MAX_FREE / 2;
            if !removable && !joined {
                continue;
            }
            let (mut blocks, pages) = read_list(index, list)?;
            blocks.retain(|&block| used.claim(block));
            if removable {
                self.log_reuse(list);
                pool.free.extend(blocks);
            } else {
                consumed.blocks.extend(blocks);
            }
            consumed.blocks.extend(pages);
            consumed.lists.push(list.first);
        }
        // low blocks first: `take` pops
        pool.free.sort_unstable_by(|a, b| b.cmp(a));
        Ok((pool, consumed))
    }

    /// No snapshot of this server is older.
    fn is_past(&self, horizon: u64) -> bool {
        let horizon = pg_sys::FullTransactionId { value: horizon };
        // SAFETY: the heap is open, or NULL, which asks for the oldest of all databases.
        unsafe {
            // for a temporary table only the session's own transaction would count, not its cursors
            let local = (*self.index.relation).rd_islocaltemp;
            let heap = if local {
                std::ptr::null_mut()
            } else {
                self.heap
            };
            pg_sys::GlobalVisCheckRemovableFullXid(heap, horizon)
        }
    }

    /// Tells standbys to cancel what still reads pages about to be used again, by the record that GiST
    /// has for the purpose.
    fn log_reuse(&self, list: &FreeList) {
        // SAFETY: the relation is open.
        let needs_log = unsafe { needs_wal(self.index.relation) };
        // SAFETY: a setting of the server.
        let standbys = unsafe { pg_sys::wal_level } >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        if !needs_log || !standbys {
            return;
        }
        let horizon = pg_sys::FullTransactionId {
            value: list.horizon,
        };
        // SAFETY: declared as PostgreSQL does; both relations are open.
        unsafe {
            #[cfg(feature = "pg15")]
            ffi::gistXLogPageReuse(self.index.relation, list.first, horizon);
            #[cfg(not(feature = "pg15"))]
            ffi::gistXLogPageReuse(self.index.relation, self.heap, list.first, horizon);
        }
    }

    /// Puts the new segments in the place of the sources, and lists the blocks that are free now.
    fn publish(
        &self,
        mut pool: Pool,
        new: &[Entry],
        sources: &Sources,
        consumed: &Consumed,
        mut retired: Vec<u32>,
    ) {
        let index = self.index;
        retired.append(&mut pool.free);
        let mut words = Vec::new();
        words.extend(
            retired
                .chunks(2)
                .map(|two| u64::from(two[0]) | u64::from(two.get(1).copied().unwrap_or(0)) << 32),
        );
        let list = pool.write_chain(Kind::Free, 0, &words);
        let buffer = index.exclusive(META);
        let mut meta = Meta::decode(index, &buffer);
        meta.segments
            .retain(|s| !sources.segments.contains(&s.generation));
        meta.segments.extend_from_slice(new);
        meta.tails[sources.part as usize].drain(..sources.tail);
        meta.free.retain(|f| !consumed.lists.contains(&f.first));
        if let Some(&first) = list.first() {
            // Whoever has read the metapage before has a snapshot that is no younger: asked for while
            // nobody else can read it.
            // SAFETY: takes a lock for reading only.
            let horizon = unsafe { pg_sys::ReadNextFullTransactionId() }.value;
            meta.free.push(FreeList {
                horizon,
                first,
                blocks: retired.len() as u32,
            });
        }
        let last = new.iter().map(|s| s.generation).max();
        meta.next_generation = last.map_or(meta.next_generation, |last| last + 1);
        let signatures = Part::Signatures;
        if meta.tails[signatures as usize].is_empty()
            && meta.segments.iter().all(|s| s.part != signatures)
        {
            // the next row may have any shape
            meta.shape = 0;
        }
        meta.store(index, &buffer);
        // A standby may take a snapshot that knows of transactions begun since, and still find the old
        // metapage: what counts there is the order of the log.
        // SAFETY: as above.
        let later = unsafe { pg_sys::ReadNextFullTransactionId() }.value;
        if let Some(last) = meta.free.last_mut() {
            if !list.is_empty() && last.horizon != later {
                last.horizon = later;
                meta.store(index, &buffer);
            }
        }
    }

    /// Frees blocks that belong to nothing: what a crash or an error leaves of a rewriting.
    ///
    /// Errors: damaged lists or descriptions; out of memory.
    pub fn sweep(&self) -> Result<()> {
        let index = self.index;
        let (meta, total) = {
            // tails grow under the lock of the metapage
            let buffer = index.share(META);
            (Meta::decode(index, &buffer), index.blocks())
        };
        let mut used = in_use(index, &meta, total)?;
        for list in &meta.free {
            for block in read_list(index, list)?.0 {
                used.claim(block);
            }
        }
        let orphans: Vec<u32> = used.unclaimed().collect();
        if orphans.is_empty() || meta.free.len() + 1 >= MAX_FREE {
            return Ok(());
        }
        let pool = Pool {
            index,
            log: Log::Each,
            free: Vec::new(),
        };
        let nothing = Sources {
            part: Part::Signatures,
            segments: Vec::new(),
            tail: 0,
        };
        self.publish(pool, &[], &nothing, &Consumed::default(), orphans);
        Ok(())
    }
}

/// Free lists that a rewriting has used up, and blocks of theirs that are not free yet.
#[derive(Default)]
struct Consumed {
    lists: Vec<u32>,
    blocks: Vec<u32>,
}

/// RelationNeedsWAL().
///
/// SAFETY: the relation is open.
pub unsafe fn needs_wal(relation: pg_sys::Relation) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        let r = &*relation;
        let permanent = (*r.rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
        let always = pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        #[cfg(feature = "pg15")]
        let new_file = r.rd_firstRelfilenodeSubid;
        #[cfg(not(feature = "pg15"))]
        let new_file = r.rd_firstRelfilelocatorSubid;
        permanent && (always || (r.rd_createSubid == 0 && new_file == 0))
    }
}

/// Writes all live rows of `runs` into segments, several if they are too many for one.
///
/// Errors: a damaged page; out of memory.
pub fn write_segments(
    geometry: Geometry,
    part: Part,
    runs: &mut [Run<'_>],
    pool: Pool,
    first_generation: u64,
    options: &Options,
    memory: usize,
) -> Result<(Vec<Entry>, Pool)> {
    let index = pool.index;
    let mut new: Vec<Entry> = Vec::new();
    let mut generation = first_generation;
    let mut pool = Some(pool);
    let mut writer: Option<Writer<NewPages>> = None;
    let chunks = match part {
        Part::Signatures => options.chunks,
        Part::Missing => None,
    };
    let finish = |writer: Writer<NewPages>, new: &mut Vec<Entry>| -> Result<Pool> {
        let (segment, pages) = writer
            .finish(chunks, memory)
            .map_err(|e| index.locate(e, &[]))?;
        let generation = pages.generation;
        let (pool, map, pages) = pages.finish(&segment);
        new.push(Entry {
            generation,
            rows: segment.rows,
            dead: 0,
            map,
            pages,
            part,
        });
        Ok(pool)
    };
    merge(&geometry, runs, |row: SignatureRow<'_>| {
        if writer.as_ref().is_some_and(|w| w.rows() == MAX_ROWS) {
            pool = Some(finish(writer.take().expect("there is one"), &mut new)?);
        }
        let writer = writer.get_or_insert_with(|| {
            let pool = pool.take().expect("no other writer has it");
            generation += 1;
            Writer::new(geometry, NewPages::new(pool, generation - 1))
        });
        writer.push(row).map_err(|e| index.locate(e, &[]))
    })?;
    if let Some(writer) = writer.take() {
        pool = Some(finish(writer, &mut new)?);
    }
    Ok((new, pool.expect("given back by the last writer")))
}
