//! Tables with a sigfile index on the signatures, which a search for pairs reads.

use std::ffi::CStr;

use base::{Error, ErrorKind};
use pgrx::pg_sys;
use sigfile::Meta;

use crate::pairs::join::TableNumber;
use access::{is_sigfile, meta_of_words, mismatch};
use access::{read_meta_for, signature_column, SigfileIndex};
use pg::error::{raise, OrRaise};
use pg::ffi;
use pg::relation::OpenRelation;

/// The lock on relations that are read.
pub const LOCK: u32 = pg_sys::AccessShareLock;

/// A table and its index, open, and locked until the end of the transaction.
pub struct IndexedTable {
    index: OpenRelation,
    pub heap: OpenRelation,
    /// The number of the key's column; 0 in a parallel worker.
    pub key: pg_sys::AttrNumber,
    /// The numbers of the columns in which records must be equal, or by which they are judged; none in a parallel
    /// worker.
    pub within: Vec<pg_sys::AttrNumber>,
    pub meta: Meta,
    /// The snapshot that the table is read with.
    pub snapshot: pg_sys::Snapshot,
}

impl IndexedTable {
    /// A table with its first usable index on the column `signature`; `None` if it has none, or if only a query can
    /// read the table.
    ///
    /// Errors: a temporary or unlogged table during recovery.
    ///
    /// # Safety
    /// `oid` is a locked table with these columns. The active snapshot stays active as long as the result is used.
    pub unsafe fn find<'n>(
        oid: pg_sys::Oid,
        key: &CStr,
        signature: &CStr,
        within: impl Iterator<Item = &'n CStr>,
    ) -> Option<IndexedTable> {
        let heap = OpenRelation::locked_table(oid);
        heap.expect_contents();
        let persistence = heap.form().relpersistence as u8;
        // SAFETY: the table is open, and the columns exist.
        let (column, key, within, is_virtual) = unsafe {
            let key = pg_sys::get_attnum(oid, key.as_ptr());
            let within: Vec<_> = within
                .map(|name| pg_sys::get_attnum(oid, name.as_ptr()))
                .collect();
            let is_virtual = |&column: &_| pg_sys::get_attgenerated(oid, column) as u8 == b'v';
            let any_virtual = within.iter().chain([&key]).any(is_virtual);
            (
                pg_sys::get_attnum(oid, signature.as_ptr()),
                key,
                within,
                any_virtual,
            )
        };
        let of_other_session = persistence == pg_sys::RELPERSISTENCE_TEMP && !heap.rd_islocaltemp;
        // Only a query computes virtual columns, and says that a materialized view has not been populated.
        if of_other_session || is_virtual || !heap.form().relispopulated || !heap.is_heap() {
            return None;
        }
        let mut indexes = heap.indexes().into_iter();
        let open = indexes.find_map(|index| {
            let open = OpenRelation::index(index, LOCK);
            // SAFETY: the index is open.
            unsafe { is_usable(open.pointer(), column) }.then_some(open)
        })?;
        // SAFETY: the index is one of sigfile, and a function runs with an active snapshot.
        unsafe {
            let snapshot = pg_sys::GetActiveSnapshot();
            let index = SigfileIndex::of(&open);
            index.count_scan();
            let meta = read_meta_for(index, snapshot);
            Some(IndexedTable {
                index: open.keep_lock(),
                heap,
                key,
                within,
                meta,
                snapshot,
            })
        }
    }

    /// In a parallel worker: opens what the leader has opened. `words` are those of the metapage that the leader has
    /// read.
    ///
    /// # Safety
    /// The table and its sigfile index exist, and the leader has locked them. The active snapshot is the leader's.
    pub unsafe fn again(heap: pg_sys::Oid, index: pg_sys::Oid, words: &[u64]) -> IndexedTable {
        let heap = OpenRelation::table(heap, LOCK).keep_lock();
        let open = OpenRelation::index(index, LOCK).keep_lock();
        // SAFETY: the index is one of sigfile, and the server has restored the leader's snapshot.
        unsafe {
            let meta = meta_of_words(SigfileIndex::of(&open), words).or_raise();
            IndexedTable {
                index: open,
                heap,
                key: 0,
                within: Vec::new(),
                meta,
                snapshot: pg_sys::GetActiveSnapshot(),
            }
        }
    }

    /// The index, as long as the table is borrowed.
    pub fn index(&self) -> SigfileIndex<'_> {
        // SAFETY: it was found to be an index of sigfile, here or by the leader.
        unsafe { SigfileIndex::of(&self.index) }
    }

    /// Whether other processes cannot read the table.
    pub fn is_temporary(&self) -> bool {
        self.heap.form().relpersistence as u8 == pg_sys::RELPERSISTENCE_TEMP
    }
}

/// The tables of the relations that are searched, those of the left one first.
pub struct IndexedTables {
    pub list: Vec<IndexedTable>,
    /// How many of them are the left relation's, if there are two.
    pub left: Option<usize>,
}

impl IndexedTables {
    pub fn new(mut left: Vec<IndexedTable>, right: Option<Vec<IndexedTable>>) -> IndexedTables {
        let of_left = right.as_ref().map(|_| left.len());
        left.extend(right.into_iter().flatten());
        IndexedTables {
            list: left,
            left: of_left,
        }
    }

    /// The tables of a side, 0 or 1, with their numbers.
    pub fn of_side(&self, side: usize) -> impl Iterator<Item = (TableNumber, &IndexedTable)> {
        let end = self.left.unwrap_or(self.list.len());
        let numbers = [0..end, end..self.list.len()][side].clone();
        numbers.map(|number| (TableNumber::of_index(number), &self.list[number]))
    }

    /// Begins a search of the tables. Gives the tag of the shape that all indexes have; an index without rows has none.
    ///
    /// Errors: more tables than there are numbers for; indexes of different shapes.
    pub fn begin(&self) -> Option<u128> {
        let (tables, most) = (self.list.len(), TableNumber::MOST);
        if tables > most {
            let message = format!("cannot join more than {most} partitions");
            raise(
                &Error::new(ErrorKind::LimitExceeded, message)
                    .detail(format!("There are {tables}."))
                    .hint("Use fewer partitions, or views of some of them."),
            );
        }
        for table in &self.list {
            // Serializable transactions know now that all of the table is read.
            // SAFETY: the table is open, and the snapshot is active.
            unsafe { ffi::PredicateLockRelation(table.heap.pointer(), table.snapshot) }
        }
        let shapes = self.list.iter().map(|table| table.meta.shape());
        let mut shapes = shapes.filter(|&shape| shape != 0);
        let first = shapes.next()?;
        if let Some(other) = shapes.find(|&shape| shape != first) {
            raise(&mismatch(first, other));
        }
        Some(first)
    }
}

/// Whether an index has been there, as it is now, since before this transaction took any snapshot.
///
/// # Safety
/// `index` is open.
pub unsafe fn is_older(index: pg_sys::Relation) -> bool {
    // SAFETY: the relation cache keeps the row of pg_index with an open index.
    unsafe {
        let xmin = pg_sys::htup::HeapTupleHeaderGetXmin((*(*index).rd_indextuple).t_data);
        pg_sys::TransactionIdPrecedes(xmin, pg_sys::TransactionXmin)
    }
}

/// Whether an index is a sigfile index of the column itself and of no other, over all rows, that every snapshot of this
/// transaction may use.
///
/// # Safety
/// `index` is open.
unsafe fn is_usable(index: pg_sys::Relation, column: pg_sys::AttrNumber) -> bool {
    // SAFETY: the index is open. It is asked for its signature column when it is known to be a sigfile index.
    unsafe {
        let form = &*(*index).rd_index;
        let visible = !form.indcheckxmin || is_older(index);
        is_sigfile(index)
            && form.indisvalid
            && form.indisready
            && form.indislive
            && form.indnkeyatts == 1
            && signature_column(index) == Some(column)
            && ffi::RelationGetIndexPredicate(index).is_null()
            && visible
    }
}
