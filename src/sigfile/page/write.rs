//! Changing pages, and the write-ahead log.

use pgrx::pg_sys;

use super::{
    Buffer, PageKind, PageStamp, SigfileIndex, CONTENT, HEADER, LAYOUT, PAGE_WORDS, SIGNATURE,
};
use crate::pg::ffi;

/// How pages are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PageLog {
    /// Each change in the write-ahead log.
    Each,
    /// Not now: the whole index is logged when it is built.
    Later,
}

/// Makes `page` an empty one.
///
/// SAFETY: `page` has BLCKSZ bytes and may be written.
unsafe fn initialize(page: pg_sys::Page, kind: PageKind, generation: u64) {
    // SAFETY: as promised by the caller.
    unsafe {
        pg_sys::PageInit(page, pg_sys::BLCKSZ as usize, 0);
        // all of it is content: there is no hole for the log to leave out
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

/// SAFETY: `page` has BLCKSZ bytes, is aligned and may be written.
unsafe fn content<'a>(page: pg_sys::Page) -> &'a mut [u64] {
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts_mut(page.add(CONTENT).cast(), PAGE_WORDS) }
}

/// Writes a page anew. The buffer is locked for writing.
pub fn write(
    index: SigfileIndex,
    buffer: &Buffer,
    log: PageLog,
    kind: PageKind,
    generation: u64,
    fill: impl FnOnce(&mut [u64]),
) {
    // SAFETY: the buffer is pinned and locked; generic WAL hands out a copy of the page that it
    // makes the page when it is finished.
    unsafe {
        if log == PageLog::Later {
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
    index: SigfileIndex,
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
    index: SigfileIndex,
    old: &Buffer,
    new: &Buffer,
    kind: PageKind,
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
        initialize(page, PageKind::Meta, 0);
        fill(content(page));
        pg_sys::MarkBufferDirty(buffer);
        pg_sys::UnlockReleaseBuffer(buffer);
        pg_sys::log_newpage_range(relation, init, 0, 1, true);
    }
}
