//! Pages of a sigfile index: what is behind the header of each, and how buffers are held.
//!
//! A page is PageHeaderData, a stamp of 16 bytes, and content in 64-bit words. The stamp: generation of the
//! segment that the page belongs to (u64, 0 where it is none's), kind (u16), page layout version (u16), and
//! 0xFF85 (u32). It is not in the special space at the page's end, where it would cost a cache line more.

use std::cell::Cell;

use crate::pg::ffi;
use bloom_ident_core::Result;
use pgrx::pg_sys;

use crate::pg::tid::has_block;

/// Words of a page's content.
pub const PAGE_WORDS: usize = (pg_sys::BLCKSZ as usize - CONTENT) / 8;

/// MAXALIGN(SizeOfPageHeaderData).
const HEADER: usize = 24;
const CONTENT: usize = HEADER + size_of::<Stamp>();
const LAYOUT: u16 = 1;
const SIGNATURE: u32 = 0xFF85;

/// Block of the metapage.
pub const META: u32 = 0;

#[repr(C)]
#[derive(Clone, Copy)]
struct Stamp {
    generation: u64,
    kind: u16,
    layout: u16,
    signature: u32,
}

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    Meta = 1,
    /// Rows in the order of their arrival.
    Tail = 2,
    /// Rows of a segment, by bit count.
    Rows = 3,
    Postings = 4,
    /// Description of a segment.
    Map = 5,
    /// Numbers of blocks to be used again.
    Free = 6,
}

/// A pinned buffer, locked or not; released when dropped.
///
/// While an ERROR unwinds nothing is released here: the server's abort does that, after it has
/// reset the count of held interrupts that releasing a lock would lower.
pub struct Buffer {
    buffer: pg_sys::Buffer,
    locked: bool,
    /// It can be changed.
    exclusive: bool,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        // SAFETY: pinned, and locked if `locked`, since construction.
        unsafe {
            if self.locked {
                pg_sys::UnlockReleaseBuffer(self.buffer);
            } else {
                pg_sys::ReleaseBuffer(self.buffer);
            }
        }
    }
}

/// Whose pages are read, and by which strategy.
#[derive(Clone, Copy)]
pub struct Index {
    pub relation: pg_sys::Relation,
    pub strategy: pg_sys::BufferAccessStrategy,
}

impl Index {
    /// SAFETY: `relation` is an open sigfile index and stays open as long as the result is used.
    pub unsafe fn new(relation: pg_sys::Relation) -> Self {
        Index {
            relation,
            strategy: std::ptr::null_mut(),
        }
    }

    /// Errors: a block that the index does not have.
    fn read(self, block: u32) -> Buffer {
        // SAFETY: the relation is open.
        if !unsafe { has_block(self.relation, block) } {
            let blocks = self.blocks();
            let what = format!("the index has {blocks} blocks only");
            crate::pg::error::raise(&self.damaged(block, &what));
        }
        self.pin(block, pg_sys::ReadBufferMode::RBM_NORMAL)
    }

    fn pin(self, block: u32, mode: pg_sys::ReadBufferMode::Type) -> Buffer {
        // SAFETY: the relation is open.
        let buffer = unsafe {
            pg_sys::ReadBufferExtended(
                self.relation,
                pg_sys::ForkNumber::MAIN_FORKNUM,
                block,
                mode,
                self.strategy,
            )
        };
        Buffer {
            buffer,
            locked: false,
            exclusive: false,
        }
    }

    /// The page, locked for reading.
    pub fn share(self, block: u32) -> Buffer {
        self.read(block).lock(pg_sys::BUFFER_LOCK_SHARE)
    }

    /// The page, locked for reading, from the buffer where it was the last time if it still is there: that
    /// saves the look-up in the buffer table, which costs more than reading a posting list.
    #[inline]
    pub fn share_recent(self, block: u32, recent: &Cell<pg_sys::Buffer>) -> Buffer {
        let hint = recent.get();
        // SAFETY: the relation is open; a hint is checked by the server before it is used.
        let found = hint != 0
            && unsafe {
                #[cfg(feature = "pg15")]
                let file = (*self.relation).rd_node;
                #[cfg(not(feature = "pg15"))]
                let file = (*self.relation).rd_locator;
                pg_sys::ReadRecentBuffer(file, pg_sys::ForkNumber::MAIN_FORKNUM, block, hint)
            };
        if found {
            let buffer = Buffer {
                buffer: hint,
                locked: false,
                exclusive: false,
            };
            return buffer.lock(pg_sys::BUFFER_LOCK_SHARE);
        }
        let buffer = self.share(block);
        recent.set(buffer.buffer);
        buffer
    }

    /// The page, locked for writing.
    pub fn exclusive(self, block: u32) -> Buffer {
        let mut buffer = self.read(block).lock(pg_sys::BUFFER_LOCK_EXCLUSIVE);
        buffer.exclusive = true;
        buffer
    }

    /// A page whose content does not matter any more, locked for writing.
    pub fn reused(self, block: u32) -> Buffer {
        let mut buffer = self.pin(block, pg_sys::ReadBufferMode::RBM_ZERO_AND_LOCK);
        buffer.locked = true;
        buffer
    }

    /// A new page at the end, locked for writing.
    pub fn extended(self) -> Buffer {
        // SAFETY: the relation is open; extending needs its extension lock.
        unsafe {
            let lock = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
            ffi::LockRelationForExtension(self.relation, lock);
            let buffer = self.pin(
                pg_sys::InvalidBlockNumber,
                pg_sys::ReadBufferMode::RBM_NORMAL,
            );
            let buffer = buffer.lock(pg_sys::BUFFER_LOCK_EXCLUSIVE);
            pg_sys::UnlockRelationForExtension(self.relation, lock);
            buffer
        }
    }

    pub fn blocks(self) -> u32 {
        // SAFETY: the relation is open.
        unsafe {
            pg_sys::RelationGetNumberOfBlocksInFork(self.relation, pg_sys::ForkNumber::MAIN_FORKNUM)
        }
    }

    pub fn name(self) -> String {
        // SAFETY: the relation is open.
        unsafe {
            let name = &(*(*self.relation).rd_rel).relname;
            std::ffi::CStr::from_ptr(name.data.as_ptr())
                .to_string_lossy()
                .into_owned()
        }
    }

    /// Counts a scan in the statistics, as `pgstat_count_index_scan` does.
    pub fn count_scan(self) {
        // SAFETY: the relation is open; its counters are made when they are first needed.
        unsafe {
            let relation = &*self.relation;
            if relation.pgstat_info.is_null() {
                if !relation.pgstat_enabled {
                    return;
                }
                pg_sys::pgstat_assoc_relation(self.relation);
            }
            let info = &mut *(*self.relation).pgstat_info;
            #[cfg(feature = "pg15")]
            let counts = &mut info.t_counts.t_numscans;
            #[cfg(not(feature = "pg15"))]
            let counts = &mut info.counts.numscans;
            *counts += 1;
        }
    }
}

impl Buffer {
    fn lock(mut self, mode: u32) -> Buffer {
        // SAFETY: pinned.
        unsafe { pg_sys::LockBuffer(self.buffer, mode as i32) };
        self.locked = true;
        self
    }

    pub fn block(&self) -> u32 {
        // SAFETY: pinned.
        unsafe { pg_sys::BufferGetBlockNumber(self.buffer) }
    }

    fn page(&self) -> pg_sys::Page {
        // SAFETY: pinned.
        unsafe { pg_sys::BufferGetPage(self.buffer) }
    }

    /// The content, for as long as the lock is held.
    pub fn words(&self) -> &[u64] {
        debug_assert!(self.locked);
        // SAFETY: a page of BLCKSZ bytes, aligned as buffers are, locked as long as self.
        unsafe { std::slice::from_raw_parts(self.page().add(CONTENT).cast(), PAGE_WORDS) }
    }

    fn stamp(&self) -> Stamp {
        // SAFETY: bytes of the page, aligned.
        unsafe { *self.page().add(HEADER).cast::<Stamp>() }
    }

    /// Fails a statement whose snapshot is so old that `old_snapshot_threshold` has let VACUUM take rows
    /// which it sees, if the page has changed since.
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    pub fn test_old_snapshot(&self, index: Index, snapshot: pg_sys::Snapshot) {
        // SAFETY: the page is locked; the snapshot is NULL or that of a running scan.
        unsafe {
            if pg_sys::old_snapshot_threshold < 0 || snapshot.is_null() {
                return;
            }
            let lsn = &(*self.page().cast::<pg_sys::PageHeaderData>()).pd_lsn;
            let lsn = u64::from(lsn.xlogid) << 32 | u64::from(lsn.xrecoff);
            let mvcc = (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC;
            if mvcc && (*snapshot).lsn != 0 && lsn > (*snapshot).lsn {
                pg_sys::TestForOldSnapshot_impl(snapshot, index.relation);
            }
        }
    }

    /// There is no such setting any more.
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    pub fn test_old_snapshot(&self, _index: Index, _snapshot: pg_sys::Snapshot) {}

    /// The header is as [`initialize`] leaves it. Had it a hole, generic WAL would blank that at the next change of the page.
    fn has_no_hole(&self) -> bool {
        const SIZE: u16 = pg_sys::BLCKSZ as u16;
        // SAFETY: the header of a pinned page.
        let header = unsafe { &*self.page().cast::<pg_sys::PageHeaderData>() };
        let ends = [header.pd_lower, header.pd_upper, header.pd_special];
        let version = SIZE | pg_sys::PG_PAGE_LAYOUT_VERSION as u16;
        ends == [SIZE; 3] && header.pd_pagesize_version == version
    }

    /// The page is initialised, and of this kind and generation.
    #[inline]
    pub fn is(&self, kind: Kind, generation: u64) -> bool {
        let stamp = self.stamp();
        (!self.exclusive || self.has_no_hole())
            && stamp.signature == SIGNATURE
            && stamp.layout == LAYOUT
            && stamp.kind == kind as u16
            && stamp.generation == generation
    }

    /// Errors: the page is not of this kind and generation.
    #[inline]
    pub fn expect(self, index: Index, kind: Kind, generation: u64) -> Result<Buffer> {
        if self.is(kind, generation) {
            return Ok(self);
        }
        let what = format!("the page is not of kind {kind:?} and generation {generation}");
        Err(index.damaged(self.block(), &what))
    }
}

/// How pages are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// Each change in the write-ahead log.
    Each,
    /// Not now: the whole index is logged when it is built.
    Later,
}

/// Makes `page` an empty one.
///
/// SAFETY: `page` has BLCKSZ bytes and may be written.
unsafe fn initialize(page: pg_sys::Page, kind: Kind, generation: u64) {
    // SAFETY: as promised by the caller.
    unsafe {
        pg_sys::PageInit(page, pg_sys::BLCKSZ as usize, 0);
        // all of it is content: there is no hole for the log to leave out
        let header = page.cast::<pg_sys::PageHeaderData>();
        (*header).pd_lower = (*header).pd_upper;
        page.add(HEADER).cast::<Stamp>().write(Stamp {
            generation,
            kind: kind as u16,
            layout: LAYOUT,
            signature: SIGNATURE,
        });
    }
}

/// SAFETY: `page` has BLCKSZ bytes, is aligned and may be written.
unsafe fn content<'a>(page: pg_sys::Page) -> &'a mut [u64] {
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts_mut(page.add(CONTENT).cast(), PAGE_WORDS) }
}

/// Writes a page anew. The buffer is locked for writing.
pub fn write(
    index: Index,
    buffer: &Buffer,
    log: Log,
    kind: Kind,
    generation: u64,
    fill: impl FnOnce(&mut [u64]),
) {
    // SAFETY: the buffer is pinned and locked; generic WAL hands out a copy of the page that it
    // makes the page when it is finished.
    unsafe {
        if log == Log::Later {
            initialize(buffer.page(), kind, generation);
            fill(content(buffer.page()));
            pg_sys::MarkBufferDirty(buffer.buffer);
            return;
        }
        let state = pg_sys::GenericXLogStart(index.relation);
        let page = pg_sys::GenericXLogRegisterBuffer(
            state,
            buffer.buffer,
            pg_sys::GENERIC_XLOG_FULL_IMAGE as i32,
        );
        initialize(page, kind, generation);
        fill(content(page));
        pg_sys::GenericXLogFinish(state);
    }
}

/// Changes pages together, in one record of the log: all or none. Each buffer is locked for writing;
/// at most four.
pub fn change<const N: usize>(
    index: Index,
    buffers: [&Buffer; N],
    change: impl FnOnce([&mut [u64]; N]),
) {
    // SAFETY: as above.
    unsafe {
        let state = pg_sys::GenericXLogStart(index.relation);
        let pages = buffers.map(|b| content(pg_sys::GenericXLogRegisterBuffer(state, b.buffer, 0)));
        change(pages);
        pg_sys::GenericXLogFinish(state);
    }
}

/// [`change`] of one page, and a new one of the given kind.
pub fn change_and_start(
    index: Index,
    old: &Buffer,
    new: &Buffer,
    kind: Kind,
    change: impl FnOnce(&mut [u64], &mut [u64]),
) {
    // SAFETY: as above.
    unsafe {
        let state = pg_sys::GenericXLogStart(index.relation);
        let old = pg_sys::GenericXLogRegisterBuffer(state, old.buffer, 0);
        let new = pg_sys::GenericXLogRegisterBuffer(
            state,
            new.buffer,
            pg_sys::GENERIC_XLOG_FULL_IMAGE as i32,
        );
        initialize(new, kind, 0);
        content(new).fill(0);
        change(content(old), content(new));
        pg_sys::GenericXLogFinish(state);
    }
}

/// Writes the first page of an unlogged index's initial fork, to the log too.
///
/// SAFETY: `relation` is an unlogged index being created.
pub unsafe fn write_initial(relation: pg_sys::Relation, fill: impl FnOnce(&mut [u64])) {
    // SAFETY: as promised by the caller; the new buffer is pinned and locked. The critical
    // section holds nothing that could fail but the log.
    unsafe {
        let init = pg_sys::ForkNumber::INIT_FORKNUM;
        let lock = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
        ffi::LockRelationForExtension(relation, lock);
        let buffer = pg_sys::ReadBufferExtended(
            relation,
            init,
            pg_sys::InvalidBlockNumber,
            pg_sys::ReadBufferMode::RBM_NORMAL,
            std::ptr::null_mut(),
        );
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_EXCLUSIVE as i32);
        pg_sys::UnlockRelationForExtension(relation, lock);
        let page = pg_sys::BufferGetPage(buffer);
        initialize(page, Kind::Meta, 0);
        fill(content(page));
        pg_sys::MarkBufferDirty(buffer);
        pg_sys::UnlockReleaseBuffer(buffer);
        pg_sys::log_newpage_range(relation, init, 0, 1, true);
    }
}

/// Has the processor fetch a page's descriptor, its header and these words of its content, if it is where it was the last time.
/// Whatever is there, it is but a hint.
#[inline]
pub fn prefetch(recent: &Cell<pg_sys::Buffer>, words: &[usize]) {
    #[cfg(target_arch = "x86_64")]
    if recent.get() > 0 {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let number = recent.get() as usize - 1;
        // SAFETY: addresses only; what is prefetched need not be memory of anybody's.
        unsafe {
            let page = pg_sys::BufferBlocks.wrapping_add(number * pg_sys::BLCKSZ as usize);
            _mm_prefetch::<_MM_HINT_T0>(ffi::buffer_descriptor(number).cast());
            _mm_prefetch::<_MM_HINT_T0>(page.cast());
            for &word in words {
                let at = page.wrapping_add(HEADER + size_of::<Stamp>() + 8 * word);
                _mm_prefetch::<_MM_HINT_T0>(at.cast());
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (recent, words);
}
