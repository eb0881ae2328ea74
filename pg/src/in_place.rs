//! Rows that are changed where they are: without a new version, and whatever becomes of the transaction, as PostgreSQL
//! changes the row of a sequence.

use pgrx::pg_sys;

/// Has `change` write to the data of the row at a tid, if there is one, and writes that to the log, and the log to disk. `change` says whether it
/// is the row that was meant; if not, nothing is changed. Whether it was.
///
/// # Safety
/// `table` is open, is of heap, and is locked against those who rewrite it. What is changed has a fixed place in the rows,
/// and no index has it.
pub unsafe fn change_in_place(
    table: pg_sys::Relation,
    tid: pg_sys::ItemPointerData,
    change: impl FnOnce(&mut [u8]) -> bool,
) -> bool {
    let block = u32::from(tid.ip_blkid.bi_hi) << 16 | u32::from(tid.ip_blkid.bi_lo);
    // SAFETY: the caller's. The block is one of the table, and the buffer is pinned and locked while its page is used; all
    // places on the page are compared with its size before something is read there. Generic WAL hands out a copy, which
    // becomes the page at the end.
    unsafe {
        let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
        if block >= pg_sys::RelationGetNumberOfBlocksInFork(table, fork) {
            return false;
        }
        let buffer = pg_sys::ReadBuffer(table, block);
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_EXCLUSIVE as i32);
        let state = pg_sys::GenericXLogStart(table);
        let page = pg_sys::GenericXLogRegisterBuffer(state, buffer, 0);
        let is_it = data_of(page, tid.ip_posid).is_some_and(change);
        let written = match is_it {
            true => Some(pg_sys::GenericXLogFinish(state)),
            false => {
                pg_sys::GenericXLogAbort(state);
                None
            }
        };
        pg_sys::UnlockReleaseBuffer(buffer);
        // No commit waits for it: the transaction may have no number, or be rolled back.
        if let Some(written) = written {
            pg_sys::XLogFlush(written);
        }
        is_it
    }
}

/// The data of a row, behind its header.
///
/// # Safety
/// `page` is a page of a heap that nobody else reads or writes.
unsafe fn data_of<'a>(page: pg_sys::Page, offset: pg_sys::OffsetNumber) -> Option<&'a mut [u8]> {
    // SAFETY: the caller's; the places are within the page.
    unsafe {
        if offset < 1 || offset > pg_sys::PageGetMaxOffsetNumber(page) {
            return None;
        }
        let item = pg_sys::PageGetItemId(page, offset);
        let (at, length) = ((*item).lp_off() as usize, (*item).lp_len() as usize);
        let header = size_of::<pg_sys::HeapTupleHeaderData>();
        if (*item).lp_flags() != pg_sys::LP_NORMAL
            || length < header
            || at + length > pg_sys::BLCKSZ as usize
        {
            return None;
        }
        let row = page.add(at).cast::<u8>();
        let behind = usize::from((*row.cast::<pg_sys::HeapTupleHeaderData>()).t_hoff);
        let bytes = length.checked_sub(behind)?;
        Some(std::slice::from_raw_parts_mut(row.add(behind), bytes))
    }
}
