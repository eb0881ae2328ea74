//! How buffers are held.

use bloom_ident_core::Result;
use pgrx::pg_sys;

use super::{PageKind, PageStamp, SigfileIndex, CONTENT, HEADER, LAYOUT, PAGE_WORDS, SIGNATURE};

/// A pinned buffer, locked or not; released when dropped.
///
/// While an ERROR unwinds nothing is released here: the server's abort does that, after it has
/// reset the count of held interrupts that releasing a lock would lower.
pub struct Buffer {
    pub(super) buffer: pg_sys::Buffer,
    pub(super) locked: bool,
    /// It can be changed.
    pub(super) exclusive: bool,
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

impl Buffer {
    pub(super) fn lock(mut self, mode: u32) -> Buffer {
        // SAFETY: pinned.
        unsafe { pg_sys::LockBuffer(self.buffer, mode as i32) };
        self.locked = true;
        self
    }

    pub fn block(&self) -> u32 {
        // SAFETY: pinned.
        unsafe { pg_sys::BufferGetBlockNumber(self.buffer) }
    }

    pub(super) fn page(&self) -> pg_sys::Page {
        // SAFETY: pinned.
        unsafe { pg_sys::BufferGetPage(self.buffer) }
    }

    /// The content, for as long as the lock is held.
    pub fn words(&self) -> &[u64] {
        debug_assert!(self.locked);
        // SAFETY: a page of BLCKSZ bytes, aligned as buffers are, locked as long as self.
        unsafe { std::slice::from_raw_parts(self.page().add(CONTENT).cast(), PAGE_WORDS) }
    }

    fn stamp(&self) -> PageStamp {
        // SAFETY: bytes of the page, aligned.
        unsafe { *self.page().add(HEADER).cast::<PageStamp>() }
    }

    /// Fails a statement whose snapshot is so old that `old_snapshot_threshold` has let VACUUM take rows
    /// which it sees, if the page has changed since.
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    pub fn test_old_snapshot(&self, index: SigfileIndex, snapshot: pg_sys::Snapshot) {
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
    pub fn test_old_snapshot(&self, _index: SigfileIndex, _snapshot: pg_sys::Snapshot) {}

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
    pub fn is(&self, kind: PageKind, generation: u64) -> bool {
        let stamp = self.stamp();
        (!self.exclusive || self.has_no_hole())
            && stamp.signature == SIGNATURE
            && stamp.layout == LAYOUT
            && stamp.kind == kind as u16
            && stamp.generation == generation
    }

    /// Errors: the page is not of this kind and generation.
    #[inline]
    pub fn expect(self, index: SigfileIndex, kind: PageKind, generation: u64) -> Result<Buffer> {
        if self.is(kind, generation) {
            return Ok(self);
        }
        let what = format!("the page is not of kind {kind:?} and generation {generation}");
        Err(index.damaged(self.block(), &what))
    }
}
