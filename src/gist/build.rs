//! Full signatures are counted while an index is built. The server tells an operator class neither that a build begins nor that it ends: it
//! passes one key after the other to compress. That a build is running shows in what the session reports of itself, and in that an index which is
//! built by sorting has no page before all keys have come. It has ended when the memory of its functions is freed, as it is a moment later.

use std::ffi::{c_void, CStr};

use bloom_ident_core::gist::TreeKey;
use pgrx::pg_sys;

use crate::pg::entry;
use crate::types::warn_of_full;

/// What was counted in a build.
pub struct BuildCount {
    signed: u64,
    full: u64,
    index: pg_sys::NameData,
    subtransaction: pg_sys::SubTransactionId,
    callback: pg_sys::MemoryContextCallback,
}

/// Whether rows come from a build, and not from statements that change the table.
///
/// # Safety
/// `index` is open.
unsafe fn is_build(index: pg_sys::Relation) -> bool {
    // SAFETY: the pointer is null or to this session's entry, which only this process writes; the index is open.
    unsafe {
        let reports = pg_sys::MyBEEntry.as_ref().is_some_and(|entry| {
            entry.st_progress_command == pg_sys::ProgressCommandType::PROGRESS_COMMAND_CREATE_INDEX
                && entry.st_progress_param[pg_sys::PROGRESS_CREATEIDX_PHASE as usize]
                    == i64::from(pg_sys::PROGRESS_CREATEIDX_PHASE_BUILD)
        });
        let main = pg_sys::ForkNumber::MAIN_FORKNUM;
        reports || pg_sys::RelationGetNumberOfBlocksInFork(index, main) == 0
    }
}

/// A count in the memory of the function that is called for the first time; null if this is no build.
///
/// # Safety
/// `fcinfo` is that of a call of compress, and `index` is open.
pub unsafe fn begin(fcinfo: pg_sys::FunctionCallInfo, index: pg_sys::Relation) -> *mut BuildCount {
    // SAFETY: the index is open. The function has memory that lives as long as the build: its state of GiST, which the server frees when all
    // rows are indexed. What is called then is an entry.
    unsafe {
        if !is_build(index) {
            return std::ptr::null_mut();
        }
        let memory = (*(*fcinfo).flinfo).fn_mcxt;
        let count: *mut BuildCount =
            pg_sys::MemoryContextAllocZero(memory, size_of::<BuildCount>()).cast();
        (*count).index = (*(*index).rd_rel).relname;
        (*count).subtransaction = pg_sys::GetCurrentSubTransactionId();
        (*count).callback.func = Some(tell);
        (*count).callback.arg = count.cast();
        pg_sys::MemoryContextRegisterResetCallback(memory, &raw mut (*count).callback);
        count
    }
}

/// Counts a key that comes.
///
/// # Safety
/// `count` is null, or of the running build.
#[inline]
pub unsafe fn add(count: *mut BuildCount, key: &TreeKey<'_>) {
    // SAFETY: the caller says so.
    if let Some(count) = unsafe { count.as_mut() } {
        count.signed += 1;
        count.full += u64::from(key.is_full());
    }
}

/// The build is over, or has failed: then its memory is freed by a transaction that is aborted, or by another one than had begun it.
///
/// # Safety
/// The server calls it when the memory of the build's functions is freed, with the count that is in it.
#[entry]
unsafe extern "C-unwind" fn tell(count: *mut c_void) {
    // SAFETY: the memory is still there. An interrupt must not stop it from being freed.
    unsafe {
        let count = &*count.cast::<BuildCount>();
        let ended = pg_sys::IsTransactionState()
            && pg_sys::GetCurrentSubTransactionId() == count.subtransaction;
        if count.full == 0 || !ended {
            return;
        }
        let index = CStr::from_ptr(count.index.data.as_ptr()).to_string_lossy();
        pg_sys::InterruptHoldoffCount += 1;
        warn_of_full(&index, count.full, count.signed);
        pg_sys::InterruptHoldoffCount -= 1;
    }
}
