//! Which rows have been changed since a search began.
//!
//! A row that is updated without change of its signature moves, and is not checked. A search that reads the row's new
//! tid before the new version is written, and its old tid after the update is committed, would miss the row.

use pgrx::pg_sys;

/// The moment when a search began: a snapshot that was taken then.
pub struct SearchStart(pg_sys::Snapshot);

impl SearchStart {
    /// Now: changes that are committed from here on are those since the search began.
    pub fn now() -> SearchStart {
        // SAFETY: a trigger runs in a transaction. The registered copy stays until `drop` gives it back.
        SearchStart(unsafe { pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()) })
    }

    /// Whether another transaction has deleted or updated this version of a row, and has been committed, since then.
    ///
    /// # Safety
    /// `slot` holds a version of a row.
    pub unsafe fn was_ended_since(&self, slot: *mut pg_sys::TupleTableSlot) -> bool {
        // SAFETY: a slot of this kind holds the tuple itself with its header, in a buffer that it has pinned. The
        // snapshot is registered.
        unsafe {
            if !std::ptr::eq((*slot).tts_ops, &raw const pg_sys::TTSOpsBufferHeapTuple) {
                return false;
            }
            let tuple = pg_sys::ExecFetchSlotHeapTuple(slot, false, std::ptr::null_mut());
            let Some(updater) = updater((*tuple).t_data) else {
                return false;
            };
            pg_sys::XidInMVCCSnapshot(updater, self.0)
                && !pg_sys::TransactionIdIsCurrentTransactionId(updater)
                && pg_sys::TransactionIdDidCommit(updater)
        }
    }
}

impl Drop for SearchStart {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: `now` has registered it, under the resource owner that is still the current one.
            unsafe { pg_sys::UnregisterSnapshot(self.0) };
        }
    }
}

/// The transaction that has deleted or updated a tuple, as far as is known; as HeapTupleHeaderGetUpdateXid() has it.
///
/// # Safety
/// `header` is that of a tuple in a pinned buffer.
pub unsafe fn updater(header: pg_sys::HeapTupleHeader) -> Option<pg_sys::TransactionId> {
    // SAFETY: the buffer is pinned, so the header is readable.
    unsafe {
        let mask = u32::from((*header).t_infomask);
        let is_multi = mask & pg_sys::HEAP_XMAX_IS_MULTI != 0;
        let is_locked_only = mask & pg_sys::HEAP_XMAX_LOCK_ONLY != 0
            || !is_multi && mask & pg_sys::HEAP_LOCK_MASK == pg_sys::HEAP_XMAX_EXCL_LOCK;
        if mask & pg_sys::HEAP_XMAX_INVALID != 0 || is_locked_only {
            return None;
        }
        let updater = if is_multi {
            pg_sys::HeapTupleGetUpdateXid(header)
        } else {
            (*header).t_choice.t_heap.t_xmax
        };
        (updater != pg_sys::InvalidTransactionId).then_some(updater)
    }
}
