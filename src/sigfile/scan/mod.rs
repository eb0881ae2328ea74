//! The server's side of a scan: keys in, table places out.

pub mod cost;
mod key;
mod nearest;
mod state;
mod tuple;
mod visibility;
mod walk;

use pgrx::pg_sys;

use crate::pg::entry;
use crate::sigfile::write::item_pointer;
use state::{start, ScanPhase, ScanState};
pub use walk::IndexScan;

/// What belongs to a scan. An exclusion check begins one for each row, in memory that is freed when the statement ends. So a
/// scan has a memory context of its own, which amendscan deletes: that drops this. After an ERROR the server deletes
/// it together with what it is in.
struct ScanMemory {
    context: pg_sys::MemoryContext,
    state: Option<ScanState>,
}

#[entry]
pub unsafe extern "C-unwind" fn ambeginscan(
    relation: pg_sys::Relation,
    keys: i32,
    order_bys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: called by the server, which frees what RelationGetIndexScan() makes when the scan ends.
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
        // the server does not set these, and asks for them
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

/// When the context of a scan is deleted.
#[entry]
unsafe extern "C-unwind" fn drop_own(own: *mut std::ffi::c_void) {
    // SAFETY: registered with what ambeginscan has made, and called once.
    drop(unsafe { Box::from_raw(own.cast::<ScanMemory>()) });
}

/// SAFETY: `scan` was begun by [`ambeginscan`] and not ended.
unsafe fn own<'a>(scan: pg_sys::IndexScanDesc) -> &'a mut ScanMemory {
    // SAFETY: as promised by the caller.
    unsafe { &mut *(*scan).opaque.cast::<ScanMemory>() }
}

#[entry]
pub unsafe extern "C-unwind" fn amrescan(
    scan: pg_sys::IndexScanDesc,
    keys: pg_sys::ScanKey,
    key_count: i32,
    order_bys: pg_sys::ScanKey,
    order_by_count: i32,
) {
    // SAFETY: called by the server with as many keys as it says; keys may be left as they were.
    unsafe {
        if !keys.is_null() && key_count > 0 {
            std::ptr::copy(keys, (*scan).keyData, key_count as usize);
        }
        if !order_bys.is_null() && order_by_count > 0 {
            std::ptr::copy(order_bys, (*scan).orderByData, order_by_count as usize);
        }
        // what the scan asks for is read when the first row is: keys may live shorter than the scan
        own(scan).state = None;
    }
}

#[entry]
pub unsafe extern "C-unwind" fn amgettuple(
    scan: pg_sys::IndexScanDesc,
    direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: called by the server on a scan of ours. What is kept between two calls lives as long as
    // the scan does.
    unsafe {
        if direction != pg_sys::ScanDirection::ForwardScanDirection {
            crate::pg::error::internal!("sigfile supports only forward scans");
        }
        let state = &mut own(scan).state;
        if state.is_none() {
            *state = Some(start(scan, (*scan).heapRelation));
        }
        let state = state.as_mut().expect("just started");
        state.next(scan)
    }
}

#[entry]
pub unsafe extern "C-unwind" fn amgetbitmap(
    scan: pg_sys::IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: as above.
    unsafe {
        // the scan of a bitmap index has no table, which only the scan of its heap knows: read ahead, places beyond its end would fail there
        let index = (*scan).indexRelation;
        let table = pg_sys::RelationIdGetRelation((*(*index).rd_index).indrelid);
        let count = collect(scan, table, bitmap);
        if !table.is_null() {
            pg_sys::RelationClose(table);
        }
        count
    }
}

/// SAFETY: as for [`start`]; `bitmap` takes places.
unsafe fn collect(
    scan: pg_sys::IndexScanDesc,
    table: pg_sys::Relation,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: as promised by the caller.
    unsafe {
        let mut state = start(scan, table);
        let ScanPhase::Rows { recheck } = state.found else {
            return 0;
        };
        let mut places = Vec::new();
        let mut count = 0;
        while state.next_page(scan) {
            places.clear();
            places.extend(state.hits.iter().map(|hit| item_pointer(hit.place)));
            pg_sys::tbm_add_tuples(bitmap, places.as_mut_ptr(), places.len() as i32, recheck);
            count += places.len() as i64;
        }
        count
    }
}

#[entry]
pub unsafe extern "C-unwind" fn amendscan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: as above. What an index-only scan has returned last is in the context, and not used any more.
    unsafe {
        let context = own(scan).context;
        (*scan).opaque = std::ptr::null_mut();
        (*scan).xs_itup = std::ptr::null_mut();
        pg_sys::MemoryContextDelete(context);
    }
}

#[entry]
pub unsafe extern "C-unwind" fn amcanreturn(_index: pg_sys::Relation, _column: i32) -> bool {
    true
}
