//! Tables with a sigfile index on the signatures, which a search for pairs reads.

use std::ffi::CStr;

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, PgList, PgSqlErrorCode};

use crate::pg::catalog::storage::is_heap;
use crate::pg::error::raise_as;
use crate::pg::ffi;
use crate::sigfile::signature_column;
use crate::sigfile::{is_sigfile, Meta, SigfileIndex};

/// The lock on relations that are read.
pub const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

/// A table and its index, open; locked until the end of the transaction.
pub struct IndexedTable {
    pub heap: pg_sys::Relation,
    pub key: pg_sys::AttrNumber,
    pub index: SigfileIndex,
    pub meta: Meta,
    /// What it is read with.
    pub snapshot: pg_sys::Snapshot,
}

impl Drop for IndexedTable {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: open since construction.
            unsafe {
                pg_sys::index_close(self.index.relation, pg_sys::NoLock as i32);
                pg_sys::table_close(self.heap, pg_sys::NoLock as i32);
            }
        }
    }
}

impl IndexedTable {
    /// `None` without a usable index.
    ///
    /// SAFETY: `oid` is a table that is locked; the active snapshot stays so as long as the result is used.
    pub unsafe fn new(oid: pg_sys::Oid, key: &CStr, signature: &CStr) -> Option<IndexedTable> {
        // SAFETY: as promised by the caller.
        unsafe {
            let heap = ffi::table_open(oid, pg_sys::NoLock as i32);
            let persistence = (*(*heap).rd_rel).relpersistence as u8;
            if persistence != pg_sys::RELPERSISTENCE_PERMANENT && pg_sys::RecoveryInProgress() {
                // as the planner says it
                raise_as(
                    PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                    &Error::new(
                        ErrorKind::InvalidParameter,
                        "cannot access temporary or unlogged relations during recovery",
                    ),
                );
            }
            let column = pg_sys::get_attnum(oid, signature.as_ptr());
            let key = pg_sys::get_attnum(oid, key.as_ptr());
            // what is not stored only a query computes
            let is_virtual = pg_sys::get_attgenerated(oid, key) as u8 == b'v';
            let list = PgList::<pg_sys::Oid>::from_pg(pg_sys::RelationGetIndexList(heap));
            let other_temp = persistence == pg_sys::RELPERSISTENCE_TEMP && !(*heap).rd_islocaltemp;
            // a query of a materialized view without data says that it has none
            let populated = (*(*heap).rd_rel).relispopulated;
            let indexes: Vec<pg_sys::Oid> =
                if other_temp || is_virtual || !populated || !is_heap(heap) {
                    Vec::new()
                } else {
                    list.iter_oid().collect()
                };
            for index in indexes {
                let relation = ffi::index_open(index, LOCK);
                if usable(relation, column) {
                    let index = SigfileIndex::new(relation);
                    index.count_scan();
                    let snapshot = pg_sys::GetActiveSnapshot();
                    return Some(IndexedTable {
                        heap,
                        key,
                        index,
                        meta: Meta::read_for(index, snapshot),
                        snapshot,
                    });
                }
                pg_sys::index_close(relation, LOCK);
            }
            pg_sys::table_close(heap, pg_sys::NoLock as i32);
            None
        }
    }

    /// In a parallel worker: what the leader has opened and read.
    ///
    /// SAFETY: the relations exist, and the leader has them locked; the active snapshot is its; `words` are those of its metapage.
    pub unsafe fn again(heap: pg_sys::Oid, index: pg_sys::Oid, words: &[u64]) -> IndexedTable {
        // SAFETY: as promised by the caller.
        unsafe {
            let heap = ffi::table_open(heap, LOCK);
            let index = SigfileIndex::new(ffi::index_open(index, LOCK));
            IndexedTable {
                heap,
                key: 0,
                index,
                meta: Meta::of_words(index, words),
                snapshot: pg_sys::GetActiveSnapshot(),
            }
        }
    }

    /// Nobody else can read it.
    pub fn is_temporary(&self) -> bool {
        // SAFETY: open.
        unsafe { (*(*self.heap).rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_TEMP }
    }

    /// In the sense of serializable transactions: all of it is read.
    pub fn lock_predicate(&self) {
        // SAFETY: open, and a snapshot in use.
        unsafe { ffi::PredicateLockRelation(self.heap, self.snapshot) }
    }
}

/// Whether an index was there, as it is now, before any snapshot of the transaction was taken.
///
/// SAFETY: `index` is open.
pub unsafe fn is_older(index: pg_sys::Relation) -> bool {
    // SAFETY: as promised by the caller; the row of pg_index is kept with it.
    unsafe {
        let xmin = pg_sys::htup::HeapTupleHeaderGetXmin((*(*index).rd_indextuple).t_data);
        pg_sys::TransactionIdPrecedes(xmin, pg_sys::TransactionXmin)
    }
}

/// A sigfile index of the column itself, over all rows, that the snapshot may use.
///
/// SAFETY: `index` is open.
unsafe fn usable(index: pg_sys::Relation, column: pg_sys::AttrNumber) -> bool {
    // SAFETY: as promised by the caller; a new metapage is read only of a sigfile index.
    unsafe {
        let form = &*(*index).rd_index;
        let visible = !form.indcheckxmin || is_older(index);
        is_sigfile(index)
            && form.indisvalid
            && form.indisready
            && form.indislive
            && signature_column(index) == Some(column)
            && ffi::RelationGetIndexPredicate(index).is_null()
            && visible
    }
}
