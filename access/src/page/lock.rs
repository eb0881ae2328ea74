//! Pages that are held. The lock is in the type, as with VectorChord's guards of buffers: what needs an exclusive lock
//! does not compile with a shared one.

use super::{PageKind, PageStamp, SigfileIndex, CONTENT, HEADER, LAYOUT, PAGE_WORDS, SIGNATURE};
use base::Result;
use pg::ffi;
use pgrx::pg_sys;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// A page that others may read, too.
pub enum SharedLock {}

/// A page that nobody else can read or change.
pub enum ExclusiveLock {}

/// How a page is locked.
pub trait PageLock: sealed::Sealed {
    /// For LockBuffer().
    const MODE: u32;
    /// The page can be changed.
    const WRITES: bool;
}

impl PageLock for SharedLock {
    const MODE: u32 = pg_sys::BUFFER_LOCK_SHARE;
    const WRITES: bool = false;
}

impl PageLock for ExclusiveLock {
    const MODE: u32 = pg_sys::BUFFER_LOCK_EXCLUSIVE;
    const WRITES: bool = true;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::SharedLock {}
    impl Sealed for super::ExclusiveLock {}
}

/// A buffer of an index, pinned and locked until this is dropped.
///
/// While an ERROR unwinds nothing is released here: the server's abort does that, after it has
/// reset the count of held interrupts that releasing a lock would lower.
pub struct PageGuard<'r, L: PageLock> {
    index: SigfileIndex<'r>,
    buffer: pg_sys::Buffer,
    lock: PhantomData<L>,
}

impl<L: PageLock> Drop for PageGuard<'_, L> {
    #[inline]
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the buffer has been pinned and locked since construction, by the same call of ours, which has no
            // other resource owner since.
            unsafe { ffi::unlock_release(self.buffer) };
        }
    }
}

impl<'r, L: PageLock> PageGuard<'r, L> {
    /// Locks a buffer.
    ///
    /// # Safety
    /// `buffer` is one of the index that this process has pinned and not locked. The pin is given away.
    #[inline]
    pub(super) unsafe fn lock(index: SigfileIndex<'r>, buffer: pg_sys::Buffer) -> Self {
        // SAFETY: the caller has pinned the buffer, and not locked it; so it is locked once.
        unsafe {
            pg_sys::LockBuffer(buffer, L::MODE as i32);
            PageGuard::locked(index, buffer)
        }
    }

    /// Takes over a buffer.
    ///
    /// # Safety
    /// `buffer` is one of the index that this process has pinned, and locked in this mode. Pin and lock are given away.
    #[inline]
    pub(super) unsafe fn locked(index: SigfileIndex<'r>, buffer: pg_sys::Buffer) -> Self {
        PageGuard {
            index,
            buffer,
            lock: PhantomData,
        }
    }

    /// The index that the page belongs to.
    pub fn index(&self) -> SigfileIndex<'r> {
        self.index
    }

    pub(super) fn buffer(&self) -> pg_sys::Buffer {
        self.buffer
    }

    /// The page's number in the index.
    pub fn block(&self) -> u32 {
        // SAFETY: the buffer is pinned.
        unsafe { pg_sys::BufferGetBlockNumber(self.buffer) }
    }

    #[inline]
    fn page(&self) -> pg_sys::Page {
        // SAFETY: the buffer is pinned.
        unsafe { pg_sys::BufferGetPage(self.buffer) }
    }

    /// The content, [`PAGE_WORDS`] words.
    #[inline]
    pub fn words(&self) -> &[u64] {
        // SAFETY: a page has BLCKSZ bytes and is aligned as buffers are. Nobody else changes it while it is locked, and
        // this process changes it only by a mutable guard.
        unsafe { std::slice::from_raw_parts(self.page().add(CONTENT).cast(), PAGE_WORDS) }
    }

    #[inline]
    fn stamp(&self) -> PageStamp {
        // SAFETY: the stamp is within the page, and aligned; any bytes are a stamp.
        unsafe { *self.page().add(HEADER).cast::<PageStamp>() }
    }

    /// Fails a statement whose snapshot is so old that `old_snapshot_threshold` has let VACUUM take rows
    /// which it sees, if the page has changed since. From PostgreSQL 17 on there is no such setting any more.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan.
    #[inline]
    pub unsafe fn test_old_snapshot(&self, snapshot: pg_sys::Snapshot) {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        // SAFETY: the page is locked and the relation is open; the caller knows that the snapshot is there.
        unsafe {
            if pg_sys::old_snapshot_threshold < 0 || snapshot.is_null() {
                return;
            }
            let lsn = &(*self.page().cast::<pg_sys::PageHeaderData>()).pd_lsn;
            let lsn = sigfile::words::join(lsn.xrecoff, lsn.xlogid);
            let mvcc = (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC;
            if mvcc && (*snapshot).lsn != 0 && lsn > (*snapshot).lsn {
                pg_sys::TestForOldSnapshot_impl(snapshot, self.index.relation());
            }
        }
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        let _ = snapshot;
    }

    /// The header is as it is when a page is initialised. If it had a hole, generic WAL would blank that at the next
    /// change of the page.
    fn has_no_hole(&self) -> bool {
        const SIZE: u16 = pg_sys::BLCKSZ as u16;
        // SAFETY: a page begins with its header.
        let header = unsafe { &*self.page().cast::<pg_sys::PageHeaderData>() };
        let ends = [header.pd_lower, header.pd_upper, header.pd_special];
        let version = SIZE | pg_sys::PG_PAGE_LAYOUT_VERSION as u16;
        ends == [SIZE; 3] && header.pd_pagesize_version == version
    }

    /// Whether the page is initialised, and of this kind and generation.
    #[inline]
    pub fn is(&self, kind: PageKind, generation: u64) -> bool {
        let stamp = self.stamp();
        (!L::WRITES || self.has_no_hole())
            && stamp.signature == SIGNATURE
            && stamp.layout == LAYOUT
            && stamp.kind == kind as u16
            && stamp.generation == generation
    }

    /// Kind and generation of the page, `None` if it is not initialised or of an unknown kind.
    pub fn kind(&self) -> Option<(PageKind, u64)> {
        let stamp = self.stamp();
        let known = stamp.signature == SIGNATURE && stamp.layout == LAYOUT;
        let kind = PageKind::ALL.into_iter().find(|&k| k as u16 == stamp.kind);
        kind.filter(|_| known).map(|kind| (kind, stamp.generation))
    }

    /// The page, if it is of this kind and generation.
    ///
    /// Errors: it is not.
    #[inline]
    pub fn expect(self, kind: PageKind, generation: u64) -> Result<Self> {
        if self.is(kind, generation) {
            return Ok(self);
        }
        let what = format!("the page is not of kind {kind:?} and generation {generation}");
        Err(self.index.damaged(self.block(), &what))
    }
}

impl<'r> PageGuard<'r, ExclusiveLock> {
    /// The page as one whose content does not matter any more.
    pub fn blank(self) -> BlankPage<'r> {
        BlankPage(self)
    }
}

/// A page whose content does not matter: a new one, or one to be used again. It can only be written anew.
pub struct BlankPage<'r>(pub(super) PageGuard<'r, ExclusiveLock>);

impl BlankPage<'_> {
    /// The page's number in the index.
    pub fn block(&self) -> u32 {
        self.0.block()
    }
}

// What the processor is told of pages that will be read.

/// Has the processor fetch a page's descriptor, its header and these words of its content, if it is where it was the
/// last time. It is only a hint, whatever is there.
#[inline]
pub fn prefetch(recent: &Cell<pg_sys::Buffer>, words: &[usize]) {
    #[cfg(target_arch = "x86_64")]
    if recent.get() > 0 {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let number = recent.get() as usize - 1;
        // SAFETY: only addresses are computed, by wrapping arithmetic; what is prefetched need not be memory of this
        // process.
        unsafe {
            let page = pg_sys::BufferBlocks.wrapping_add(number * pg_sys::BLCKSZ as usize);
            _mm_prefetch::<_MM_HINT_T0>(ffi::buffer_descriptor(number).cast());
            _mm_prefetch::<_MM_HINT_T0>(page.cast());
            for &word in words {
                let at = page.wrapping_add(CONTENT + 8 * word);
                _mm_prefetch::<_MM_HINT_T0>(at.cast());
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (recent, words);
}

/// A word of a page's content, if the page is where it was the last time; whatever is there, if not. Nothing is pinned
/// or locked, so it serves to tell what to prefetch and for nothing else.
#[inline]
pub fn glimpse(recent: &Cell<pg_sys::Buffer>, word: usize) -> Option<u64> {
    if recent.get() <= 0 || word >= PAGE_WORDS {
        return None;
    }
    let number = recent.get() as usize - 1;
    // SAFETY: the number is that of a shared buffer which the server has given, and these are in memory as long as the
    // session runs. The word is within the buffer, and aligned as buffers are. Others may write it meanwhile, so it is
    // read at once.
    unsafe {
        let page = pg_sys::BufferBlocks.add(number * pg_sys::BLCKSZ as usize);
        let at = page.add(CONTENT + 8 * word).cast::<AtomicU64>();
        Some((*at).load(Ordering::Relaxed))
    }
}

// Changing pages, and the write-ahead log.

/// How pages are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PageLog {
    /// Each change in the write-ahead log.
    Each,
    /// Not now: the whole index is logged when it is built.
    Later,
}

/// The whole page goes to the log.
const FULL_IMAGE: i32 = pg_sys::GENERIC_XLOG_FULL_IMAGE as i32;

/// Makes `page` an empty one.
///
/// # Safety
/// `page` has BLCKSZ bytes, is aligned as a word is, and may be written.
unsafe fn initialize(page: pg_sys::Page, kind: PageKind, generation: u64) {
    // SAFETY: the caller has a page that may be written; header and stamp are within it, and aligned as it is.
    unsafe {
        pg_sys::PageInit(page, pg_sys::BLCKSZ as usize, 0);
        // All of it is content: there is no hole for the log to leave out.
        let header = page.cast::<pg_sys::PageHeaderData>();
        (*header).pd_lower = (*header).pd_upper;
        page.add(HEADER).cast::<PageStamp>().write(PageStamp {
            generation,
            kind: kind as u16,
            layout: LAYOUT,
            signature: SIGNATURE,
        });
    }
}

/// # Safety
/// `page` has BLCKSZ bytes, is aligned as a word is, and nobody else reads or writes it for `'a`.
unsafe fn content<'a>(page: pg_sys::Page) -> &'a mut [u64] {
    // SAFETY: the content ends where the page does; the caller has it alone.
    unsafe { std::slice::from_raw_parts_mut(page.add(CONTENT).cast(), PAGE_WORDS) }
}

/// Has `change` write to copies of some pages, which become the pages by one record of the log: all or none. If `change`
/// fails, they are as they were.
fn logged<const N: usize>(
    index: SigfileIndex<'_>,
    pages: [(&PageGuard<'_, ExclusiveLock>, i32); N],
    change: impl FnOnce([pg_sys::Page; N]),
) {
    // SAFETY: the buffers are pinned and locked exclusively, and no two are the same: no process locks a buffer twice.
    // Generic WAL hands out a copy of each.
    unsafe {
        let state = pg_sys::GenericXLogStart(index.relation());
        change(
            pages.map(|(page, flags)| {
                pg_sys::GenericXLogRegisterBuffer(state, page.buffer(), flags)
            }),
        );
        pg_sys::GenericXLogFinish(state);
    }
}

impl BlankPage<'_> {
    /// Writes the page, and lets go of it. Returns its block. `fill` finds content that is undefined, and has to write
    /// all of it.
    pub fn write(
        self,
        log: PageLog,
        kind: PageKind,
        generation: u64,
        fill: impl FnOnce(&mut [u64]),
    ) -> u32 {
        let page = self.0;
        // SAFETY: the buffer is pinned and locked exclusively; a copy is nobody else's.
        let write = |to| unsafe {
            initialize(to, kind, generation);
            fill(content(to));
        };
        match log {
            PageLog::Each => logged(page.index, [(&page, FULL_IMAGE)], |[copy]| write(copy)),
            PageLog::Later => {
                write(page.page());
                // SAFETY: the buffer is pinned and locked exclusively.
                unsafe { pg_sys::MarkBufferDirty(page.buffer) };
            }
        }
        page.block()
    }
}

impl PageGuard<'_, ExclusiveLock> {
    /// Changes the content of the page, and logs the change.
    pub fn change(&mut self, change: impl FnOnce(&mut [u64])) {
        logged(self.index, [(self, 0)], |[page]| {
            // SAFETY: the copy is nobody else's.
            change(unsafe { content(page) })
        });
    }

    /// [`PageGuard::change`] of this page and of another one, in one record of the log: both or none.
    pub fn change_both(
        &mut self,
        other: &mut PageGuard<'_, ExclusiveLock>,
        change: impl FnOnce(&mut [u64], &mut [u64]),
    ) {
        logged(self.index, [(self, 0), (other, 0)], |[one, two]| {
            // SAFETY: the copies are nobody else's, and they are two.
            unsafe { change(content(one), content(two)) }
        });
    }

    /// [`PageGuard::change`] of this page, and beginning a new one of the given kind, in one record of the log: both or
    /// none. The content of the new page is all zero.
    pub fn change_and_start(
        &mut self,
        new: BlankPage<'_>,
        (kind, generation): (PageKind, u64),
        change: impl FnOnce(&mut [u64], &mut [u64]),
    ) {
        logged(
            self.index,
            [(self, 0), (&new.0, FULL_IMAGE)],
            |[old, new]| {
                // SAFETY: the copies are nobody else's, and they are two.
                unsafe {
                    initialize(new, kind, generation);
                    content(new).fill(0);
                    change(content(old), content(new));
                }
            },
        );
    }
}

/// Writes the first page of an unlogged index's initial fork, to the log too.
///
/// # Safety
/// `relation` is an unlogged index that is being created, and open.
pub unsafe fn write_initial(relation: pg_sys::Relation, fill: impl FnOnce(&mut [u64])) {
    // SAFETY: the new buffer is pinned and locked exclusively until it is released. The page is logged after that, as a
    // whole, when it is marked dirty: nobody else can see the relation, so nothing has to happen between the two, and
    // no critical section is needed.
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
        initialize(page, PageKind::Meta, 0);
        fill(content(page));
        pg_sys::MarkBufferDirty(buffer);
        pg_sys::UnlockReleaseBuffer(buffer);
        pg_sys::log_newpage_range(relation, init, 0, 1, true);
    }
}
