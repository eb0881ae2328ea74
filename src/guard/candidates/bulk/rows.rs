//! Reading the rows ahead of one, in the order of the table.

use pgrx::pg_sys;

use crate::guard::compare::by_signature::ComparedSignature;
use crate::guard::compare::within::WithinColumns;
use crate::guard::row::FetchedRow;
use crate::guard::tables::column::SignatureColumn;
use pg::memory::Scratch;
use pg::tid::Tid;
use pg::{check_for_interrupts, ffi};

/// Blocks without a row of this transaction, after which none is expected to follow.
const BLOCKS_APART: u32 = 16;

/// Calls `each` with tid, signature and hash of `within` of the row at `from`, and of rows behind it that the same
/// transaction has entered and that are still there; `each` says whether to go on. Rows that nothing is similar to are
/// left out: those whose signature is NULL or empty, and those with a NULL in `within`.
///
/// # Safety
/// `table` is an open heap table with this column of signatures, and with the columns of `within`.
pub unsafe fn each_row(
    table: pg_sys::Relation,
    (column, within): (SignatureColumn, &WithinColumns),
    from: Tid,
    most: usize,
    each: &mut dyn FnMut(Tid, &ComparedSignature<'_>, u64) -> bool,
) {
    let last = from.block().saturating_add(4 * most as u32);
    let (mut min, mut max) = (from.pointer(), from.pointer());
    max.ip_blkid.bi_hi = (last >> 16) as u16;
    max.ip_blkid.bi_lo = last as u16;
    max.ip_posid = u16::MAX;
    let mut scratch = Scratch::new(c"bloom_ident rows ahead");
    // SAFETY: the table is open, and of heap. SnapshotSelf is a constant of the server's: it sees what this transaction
    // and those that are committed have left. The slot is made for the table, and holds a tuple with its header.
    unsafe {
        let scan = ffi::heap_beginscan(
            table,
            &raw mut pg_sys::SnapshotSelfData,
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            pg_sys::ScanOptions::SO_TYPE_TIDRANGESCAN,
        );
        ffi::heap_set_tidrange(scan, &mut min, &mut max);
        let row = FetchedRow::none(table);
        let slot = row.slot;
        let forward = pg_sys::ScanDirection::ForwardScanDirection;
        let (mut own, mut near) = (None, from.block());
        while ffi::heap_getnextslot_tidrange(scan, forward, slot) {
            check_for_interrupts();
            let tid = Tid::from((*slot).tts_tid);
            if own.is_none() && tid != from {
                break;
            }
            let inserter = inserter(slot);
            if inserter != *own.get_or_insert(inserter) {
                if tid.block() - near > BLOCKS_APART {
                    break;
                }
                continue;
            }
            near = tid.block();
            let goes_on = scratch.with(|| {
                row.get(column.number).is_none_or(|value| {
                    let signature = ComparedSignature::of(column.of_type, value);
                    signature.is_empty()
                        || within
                            .hash(&row)
                            .is_none_or(|hash| each(tid, &signature, hash))
                })
            });
            if !goes_on {
                break;
            }
        }
        ffi::heap_endscan(scan);
    }
    scratch.delete();
}

/// The transaction that has entered the version in the slot.
///
/// # Safety
/// The slot holds a tuple of heap, in a buffer.
unsafe fn inserter(slot: *mut pg_sys::TupleTableSlot) -> pg_sys::TransactionId {
    // SAFETY: a slot of this kind has the tuple itself with its header.
    unsafe {
        let tuple = pg_sys::ExecFetchSlotHeapTuple(slot, false, std::ptr::null_mut());
        (*(*tuple).t_data).t_choice.t_heap.t_xmin
    }
}
