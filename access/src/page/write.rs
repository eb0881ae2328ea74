//! Changing pages, and the write-ahead log.

use pgrx::pg_sys;

use super::{
    BlankPage, ExclusiveLock, PageGuard, PageKind, PageStamp, CONTENT, HEADER, LAYOUT, PAGE_WORDS,
    SIGNATURE,
};
use pg::ffi;

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

impl BlankPage<'_> {
    /// Writes the page, and lets go of it. Returns its block. `fill` finds content that is undefined, and has to write
    /// all of it.
    pub fn write(
        mut self,
        log: PageLog,
        kind: PageKind,
        generation: u64,
        fill: impl FnOnce(&mut [u64]),
    ) -> u32 {
        let page = &mut self.0;
        // SAFETY: the buffer is pinned and locked exclusively. Generic WAL hands out a copy of the page, which becomes
        // the page when it is finished; if `fill` fails, the page is as it was.
        unsafe {
            if log == PageLog::Later {
                let to = page.page_mut();
                initialize(to, kind, generation);
                fill(content(to));
                pg_sys::MarkBufferDirty(page.buffer());
            } else {
                let state = pg_sys::GenericXLogStart(page.index().relation());
                let copy = pg_sys::GenericXLogRegisterBuffer(state, page.buffer(), FULL_IMAGE);
                initialize(copy, kind, generation);
                fill(content(copy));
                pg_sys::GenericXLogFinish(state);
            }
        }
        page.block()
    }
}

impl PageGuard<'_, ExclusiveLock> {
    /// Changes the content of the page, and logs the change.
    pub fn change(&mut self, change: impl FnOnce(&mut [u64])) {
        // SAFETY: the buffer is pinned and locked exclusively. Generic WAL hands out a copy of the page, which becomes
        // the page when it is finished.
        unsafe {
            let state = pg_sys::GenericXLogStart(self.index().relation());
            change(content(pg_sys::GenericXLogRegisterBuffer(
                state,
                self.buffer(),
                0,
            )));
            pg_sys::GenericXLogFinish(state);
        }
    }

    /// [`PageGuard::change`] of this page and of another one, in one record of the log: both or none.
    pub fn change_both(
        &mut self,
        other: &mut PageGuard<'_, ExclusiveLock>,
        change: impl FnOnce(&mut [u64], &mut [u64]),
    ) {
        // SAFETY: both buffers are pinned and locked exclusively, and they are two: no process locks a buffer twice.
        // Generic WAL hands out a copy of each, which become the pages when it is finished.
        unsafe {
            let state = pg_sys::GenericXLogStart(self.index().relation());
            let one = pg_sys::GenericXLogRegisterBuffer(state, self.buffer(), 0);
            let two = pg_sys::GenericXLogRegisterBuffer(state, other.buffer(), 0);
            change(content(one), content(two));
            pg_sys::GenericXLogFinish(state);
        }
    }

    /// [`PageGuard::change`] of this page, and beginning a new one of the given kind, in one record of the log: both or
    /// none. The content of the new page is all zero.
    pub fn change_and_start(
        &mut self,
        new: BlankPage<'_>,
        (kind, generation): (PageKind, u64),
        change: impl FnOnce(&mut [u64], &mut [u64]),
    ) {
        // SAFETY: both buffers are pinned and locked exclusively, and they are two: no process locks a buffer twice.
        // Generic WAL hands out a copy of each, which become the pages when it is finished.
        unsafe {
            let state = pg_sys::GenericXLogStart(self.index().relation());
            let old = pg_sys::GenericXLogRegisterBuffer(state, self.buffer(), 0);
            let new = pg_sys::GenericXLogRegisterBuffer(state, new.0.buffer(), FULL_IMAGE);
            initialize(new, kind, generation);
            content(new).fill(0);
            change(content(old), content(new));
            pg_sys::GenericXLogFinish(state);
        }
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
