//! The server's side of a scan: keys in, tids out.

pub mod cost;
mod index_scan;
mod key;
mod nearest;
mod state;

use pgrx::pg_sys;

use crate::class::{has_thresholds, key_columns, SignatureType};
use crate::page::{SigfileIndex, SigfileTable};
pub use cost::rows_alike;
pub use index_scan::IndexScan;
pub use key::RowConditions;
use pg::entry;
use state::{start, ScanPhase, ScanState};

/// What belongs to a scan, behind its `opaque`. An exclusion check begins one for each row, in memory that is freed
/// when the statement ends. So a scan has a memory context of its own, which amendscan deletes: that drops this. After
/// an ERROR the server deletes it together with what it is in.
struct ScanMemory {
    context: pg_sys::MemoryContext,
    /// Its relations are open as long as the scan: the state is dropped when the scan ends, at the latest.
    state: Option<ScanState<'static>>,
}

/// Begins a scan, whose keys are not known yet.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn ambeginscan(
    relation: pg_sys::Relation,
    keys: i32,
    order_bys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: the server passes an open index, and frees what RelationGetIndexScan() makes when the scan ends. The
    // callback and its argument stay until the context is deleted.
    unsafe {
        let scan = pg_sys::RelationGetIndexScan(relation, keys, order_bys);
        let context = pg_sys::AllocSetContextCreateInternal(
            pg_sys::CurrentMemoryContext,
            c"sigfile scan".as_ptr(),
            pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
            pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
            pg_sys::ALLOCSET_SMALL_MAXSIZE as usize,
        );
        let size = size_of::<pg_sys::MemoryContextCallback>();
        let callback: *mut pg_sys::MemoryContextCallback =
            pg_sys::MemoryContextAllocZero(context, size).cast();
        let own = Box::new(ScanMemory {
            context,
            state: None,
        });
        (*scan).opaque = Box::into_raw(own).cast();
        (*callback).func = Some(drop_own);
        (*callback).arg = (*scan).opaque;
        pg_sys::MemoryContextRegisterResetCallback(context, callback);
        (*scan).xs_itupdesc = (*relation).rd_att;
        // The server does not set these, and asks for them.
        (*scan).xs_recheck = false;
        (*scan).xs_recheckorderby = false;
        if order_bys > 0 {
            let n = order_bys as usize;
            let values = pg_sys::MemoryContextAllocZero(context, n * size_of::<pg_sys::Datum>());
            (*scan).xs_orderbyvals = values.cast();
            (*scan).xs_orderbynulls = pg_sys::MemoryContextAllocZero(context, n).cast();
        }
        scan
    }
}

/// Drops what belongs to a scan, when its context is deleted.
///
/// # Safety
/// The server calls it once, with what ambeginscan has registered.
#[entry]
unsafe extern "C-unwind" fn drop_own(own: *mut std::ffi::c_void) {
    // SAFETY: the callback was registered with the box that ambeginscan has made, and the server calls it once. What is
    // dropped is in Rust's memory; no server function is called, so nothing can raise an error here.
    let own = unsafe { Box::from_raw(own.cast::<ScanMemory>()) };
    // amendscan has dropped the state, unless there was an error
    if let Some(state) = own.state {
        state.abandon();
    }
}

/// # Safety
/// `scan` was begun by [`ambeginscan`], and neither is it ended for `'a`, nor is this called again.
unsafe fn own<'a>(scan: pg_sys::IndexScanDesc) -> &'a mut ScanMemory {
    // SAFETY: ambeginscan has put it there, and amendscan takes it away.
    unsafe { &mut *(*scan).opaque.cast::<ScanMemory>() }
}

/// Takes the keys of a scan, which begins anew.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn amrescan(
    scan: pg_sys::IndexScanDesc,
    keys: pg_sys::ScanKey,
    key_count: i32,
    order_bys: pg_sys::ScanKey,
    order_by_count: i32,
) {
    // SAFETY: the server passes a scan of ours, with as many keys as it says; keys may be left as they were.
    unsafe {
        if !keys.is_null() && key_count > 0 {
            std::ptr::copy(keys, (*scan).keyData, key_count as usize);
        }
        if !order_bys.is_null() && order_by_count > 0 {
            std::ptr::copy(order_bys, (*scan).orderByData, order_by_count as usize);
        }
        // What the scan asks for is read when the first row is: the values of keys may live shorter than the scan.
        own(scan).state = None;
    }
}

/// Finds the next row.
///
/// Errors: a damaged index; a scan backwards.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn amgettuple(
    scan: pg_sys::IndexScanDesc,
    direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: the server passes a scan of ours. What is kept between two calls is dropped when the scan ends, and its
    // relations are open until then.
    unsafe {
        if direction != pg_sys::ScanDirection::ForwardScanDirection {
            pg::error::internal!("sigfile supports only forward scans");
        }
        let state = &mut own(scan).state;
        if state.is_none() {
            *state = Some(start(scan, SigfileTable::new((*scan).heapRelation)));
        }
        let state = state.as_mut().expect("just started");
        state.next(scan)
    }
}

/// Finds all rows.
///
/// Errors: a damaged index.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn amgetbitmap(
    scan: pg_sys::IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: the server passes a scan of ours, whose index is open; the table is locked as long, and is closed again.
    unsafe {
        // The scan of a bitmap index has no table, which only the scan of its heap knows. That one reads ahead, and
        // tids beyond the end of the table would fail there.
        let index = (*scan).indexRelation;
        let table = pg_sys::RelationIdGetRelation((*(*index).rd_index).indrelid);
        let mut state = start(scan, SigfileTable::new(table));
        let (mut tids, mut count) = (Vec::new(), 0);
        if let ScanPhase::Rows { recheck } = state.found {
            while state.next_page(scan) {
                tids.clear();
                tids.extend(state.hits.iter().map(|hit| hit.tid.pointer()));
                pg_sys::tbm_add_tuples(bitmap, tids.as_mut_ptr(), tids.len() as i32, recheck);
                count += tids.len() as i64;
            }
        }
        drop(state);
        if !table.is_null() {
            pg_sys::RelationClose(table);
        }
        count
    }
}

/// Ends a scan.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn amendscan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: the server passes a scan of ours, for the last time. What an index-only scan has returned last is in the
    // context, and not used any more.
    unsafe {
        own(scan).state = None;
        let context = own(scan).context;
        (*scan).opaque = std::ptr::null_mut();
        (*scan).xs_itup = std::ptr::null_mut();
        pg_sys::MemoryContextDelete(context);
    }
}

/// The index has the values of the last column, for index-only scans, but only hashes of those before it.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn amcanreturn(index: pg_sys::Relation, column: i32) -> bool {
    // SAFETY: the server passes an open index.
    unsafe {
        let open = SigfileIndex::new(index);
        // The thresholds of queries for sampled bits are kept as they are searched for.
        let is_kept = SignatureType::new(open) == SignatureType::Filter || !has_thresholds(open);
        column as usize == key_columns(index) && is_kept
    }
}
