//! What has been committed since a search began.
//!
//! A row that is updated without change of its signature moves, and is not checked. A search that looked at its new
//! place before it was written, and at its old one after the update was committed, would miss it.

use pgrx::pg_sys;

/// The moment when a search began.
pub struct SearchStart(pg_sys::Snapshot);

impl SearchStart {
    pub fn now() -> SearchStart {
        // SAFETY: in a transaction; the registered copy stays until it is dropped.
        SearchStart(unsafe { pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()) })
    }

    /// Whether another transaction has deleted or updated this version of a row since then, and has been committed.
    ///
    /// SAFETY: `slot` holds a version of a row.
    pub unsafe fn ended(&self, slot: *mut pg_sys::TupleTableSlot) -> bool {
        // SAFETY: as promised by the caller; a slot of this kind has the tuple itself, with its header.
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
            // SAFETY: registered by now(), under the same resource owner.
            unsafe { pg_sys::UnregisterSnapshot(self.0) };
        }
    }
}

/// Who has deleted or updated a tuple, as far as is known; `HeapTupleHeaderGetUpdateXid`.
///
/// SAFETY: `header` is that of a tuple in a pinned buffer.
pub unsafe fn updater(header: pg_sys::HeapTupleHeader) -> Option<pg_sys::TransactionId> {
    // SAFETY: as promised by the caller.
    unsafe {
        let mask = u32::from((*header).t_infomask);
        let multi = mask & pg_sys::HEAP_XMAX_IS_MULTI != 0;
        let locked_only = mask & pg_sys::HEAP_XMAX_LOCK_ONLY != 0
            || !multi && mask & pg_sys::HEAP_LOCK_MASK == pg_sys::HEAP_XMAX_EXCL_LOCK;
        if mask & pg_sys::HEAP_XMAX_INVALID != 0 || locked_only {
            return None;
        }
        let updater = if multi {
            pg_sys::HeapTupleGetUpdateXid(header)
        } else {
            (*header).t_choice.t_heap.t_xmax
        };
        (updater != pg_sys::InvalidTransactionId).then_some(updater)
    }
}
