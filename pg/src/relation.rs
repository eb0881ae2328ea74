//! Relations that are open, and what is asked of them.

use std::ffi::CStr;
use std::ops::Deref;

use pgrx::pg_sys;

use crate::error::raise;
use crate::ffi;
use crate::tree::list;
use base::{Error, ErrorKind};

/// An open relation, which is closed when this is dropped.
///
/// After an error the server closes it itself, at the end of the subtransaction, so nothing is done while the stack
/// unwinds.
pub struct OpenRelation {
    relation: pg_sys::Relation,
    /// The lock that is released on closing, NoLock for none.
    released: pg_sys::LOCKMODE,
}

impl Drop for OpenRelation {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: it has been open since construction. table_close and index_close do the same.
            unsafe { pg_sys::relation_close(self.relation, self.released) };
        }
    }
}

/// The triggers of a relation, as they were when they were asked for. They are of the memory context that was current then.
pub struct Triggers(*mut pg_sys::TriggerDesc);

impl Deref for Triggers {
    type Target = [pg_sys::Trigger];

    fn deref(&self) -> &[pg_sys::Trigger] {
        // SAFETY: NULL or a description, with as many triggers as it says, which only `drop` frees.
        unsafe {
            self.0.as_ref().map_or(&[], |all| {
                std::slice::from_raw_parts(all.triggers, all.numtriggers as usize)
            })
        }
    }
}

impl Drop for Triggers {
    fn drop(&mut self) {
        // After an error the server frees it with its memory.
        if !std::thread::panicking() {
            // SAFETY: made by `triggers`, and freed here only; of NULL nothing is freed.
            unsafe { pg_sys::FreeTriggerDesc(self.0) };
        }
    }
}

impl Deref for OpenRelation {
    type Target = pg_sys::RelationData;

    fn deref(&self) -> &pg_sys::RelationData {
        // SAFETY: an open relation has its entry in the relation cache until it is closed, and `self` keeps it open.
        unsafe { &*self.relation }
    }
}

impl OpenRelation {
    /// Opens a table that this transaction has locked already; its lock stays as it is.
    ///
    /// Errors: there is no such relation, or it is an index.
    pub fn locked_table(oid: pg_sys::Oid) -> OpenRelation {
        OpenRelation::table(oid, pg_sys::NoLock)
    }

    /// Opens a table with a lock that is released when the table is closed.
    ///
    /// Errors: there is no such relation, or it is an index.
    pub fn table(oid: pg_sys::Oid, lock: u32) -> OpenRelation {
        // SAFETY: the server checks the OID, and raises an error if there is no such table.
        let relation = unsafe { ffi::table_open(oid, lock as pg_sys::LOCKMODE) };
        OpenRelation::of(relation, lock)
    }

    fn of(relation: pg_sys::Relation, lock: u32) -> OpenRelation {
        let released = lock as pg_sys::LOCKMODE;
        OpenRelation { relation, released }
    }

    /// Opens an index with a lock that is released when the index is closed.
    ///
    /// Errors: there is no such relation, or it is no index.
    pub fn index(oid: pg_sys::Oid, lock: u32) -> OpenRelation {
        // SAFETY: the server checks the OID, and raises an error if there is no such index.
        let relation = unsafe { ffi::index_open(oid, lock as pg_sys::LOCKMODE) };
        OpenRelation::of(relation, lock)
    }

    /// Opens a relation of any kind with a lock that is released on closing; `None` if there is none of this OID.
    pub fn find(oid: pg_sys::Oid, lock: u32) -> Option<OpenRelation> {
        // SAFETY: the server checks the OID, and gives NULL if there is no such relation.
        let relation = unsafe { ffi::try_relation_open(oid, lock as pg_sys::LOCKMODE) };
        // Lazily: what is made of NULL would be closed when it is dropped.
        (!relation.is_null()).then(|| OpenRelation::of(relation, lock))
    }

    /// As [`find`](OpenRelation::find), but `None` also where the lock would have to be waited for.
    pub fn find_unless_locked(oid: pg_sys::Oid, lock: u32) -> Option<OpenRelation> {
        let mode = lock as pg_sys::LOCKMODE;
        // SAFETY: a lock is taken by OID; any number can be locked.
        if !unsafe { ffi::ConditionalLockRelationOid(oid, mode) } {
            return None;
        }
        let found = OpenRelation::find(oid, pg_sys::NoLock);
        if found.is_none() {
            // SAFETY: it was locked above.
            unsafe { pg_sys::UnlockRelationOid(oid, mode) };
        }
        found.map(|mut open| {
            open.released = mode;
            open
        })
    }

    /// Opens a table with a lock that is released on closing; `None` if there is no relation of this OID.
    ///
    /// Errors: it is an index or a composite type.
    pub fn find_table(oid: pg_sys::Oid, lock: u32) -> Option<OpenRelation> {
        // SAFETY: the server checks the OID, and gives NULL if there is no such relation.
        let relation = unsafe { ffi::try_table_open(oid, lock as pg_sys::LOCKMODE) };
        // Lazily, as above.
        (!relation.is_null()).then(|| OpenRelation::of(relation, lock))
    }

    /// The lock stays until the end of the transaction.
    pub fn keep_lock(mut self) -> OpenRelation {
        self.released = pg_sys::NoLock as pg_sys::LOCKMODE;
        self
    }

    /// Fails for a temporary or unlogged relation during recovery, when there is nothing in it.
    pub fn expect_contents(&self) {
        let permanent = self.form().relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
        // SAFETY: a state of the server is asked for.
        if !permanent && unsafe { pg_sys::RecoveryInProgress() } {
            // The planner words it like this.
            raise(&Error::new(
                ErrorKind::NotSupported,
                "cannot access temporary or unlogged relations during recovery",
            ));
        }
    }

    /// The server's pointer, which is valid as long as this lives.
    pub fn pointer(&self) -> pg_sys::Relation {
        self.relation
    }

    /// Its row of pg_class.
    pub fn form(&self) -> &pg_sys::FormData_pg_class {
        // SAFETY: an open relation has its row of pg_class.
        unsafe { &*self.rd_rel }
    }

    /// Its columns, also those that were dropped.
    pub fn columns(&self) -> impl Iterator<Item = &pg_sys::FormData_pg_attribute> {
        // SAFETY: an open relation has a descriptor, with as many columns as it says.
        let column = |i| unsafe { &*ffi::attribute(self.rd_att, i) };
        // SAFETY: as above.
        (0..unsafe { (*self.rd_att).natts }).map(column)
    }

    /// Its indexes, all of them; they need no lock, since nobody can drop one while the table is locked.
    pub fn indexes(&self) -> Vec<pg_sys::Oid> {
        // SAFETY: the relation is open; the list is a new one.
        unsafe {
            let list = pg_sys::RelationGetIndexList(self.relation);
            let indexes = list::oids(list);
            pg_sys::list_free(list);
            indexes
        }
    }

    /// Its triggers; names and arguments of each are C strings. They are a copy: whatever is looked up in the catalogs may have
    /// the server read them anew, and free what it had.
    pub fn triggers(&self) -> Triggers {
        // SAFETY: an open relation has NULL or a description of its triggers; NULL is copied as NULL.
        Triggers(unsafe { pg_sys::CopyTriggerDesc(self.trigdesc) })
    }

    /// A B-tree of all rows whose first column is this one, and its collation. A unique one is on that column alone, and is
    /// checked at once.
    pub fn btree_on(&self, column: i16, is_unique: bool) -> Option<(pg_sys::Oid, pg_sys::Oid)> {
        self.btrees_on(column, is_unique).first().copied()
    }

    /// All of them.
    pub fn btrees_on(&self, column: i16, is_unique: bool) -> Vec<(pg_sys::Oid, pg_sys::Oid)> {
        let serves = |oid| {
            let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
            // SAFETY: an open index has its row of pg_index, with as many columns as key columns at least, and the collation of
            // each.
            unsafe {
                let form = &*index.rd_index;
                let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
                let is_whole = form.indisvalid && form.indisready && form.indislive;
                let is_key = form.indisunique && form.indimmediate && columns.len() == 1;
                let serves = is_whole
                    && columns[0] == column
                    && (is_key || !is_unique)
                    && index.form().relam == pg_sys::BTREE_AM_OID
                    && pg_sys::RelationGetIndexPredicate(index.pointer()).is_null();
                serves.then(|| (oid, *index.rd_indcollation))
            }
        };
        self.indexes().into_iter().filter_map(serves).collect()
    }

    /// The partitions directly below a partitioned table, none of another relation.
    /// Those that are just being detached are left out if `omit_detached`.
    pub fn partitions(&self, omit_detached: bool) -> Vec<pg_sys::Oid> {
        if self.form().relkind as u8 != pg_sys::RELKIND_PARTITIONED_TABLE {
            return Vec::new();
        }
        // SAFETY: a partitioned table has a description of its partitions, with as many OIDs as it says.
        unsafe {
            let described = &*ffi::RelationGetPartitionDesc(self.relation, omit_detached);
            (0..described.nparts as usize)
                .map(|i| *described.oids.add(i))
                .collect()
        }
    }

    /// Whether the rows are kept, and read, as PostgreSQL itself does it.
    pub fn is_heap(&self) -> bool {
        // SAFETY: the relation is open.
        unsafe { is_heap(self.relation) }
    }

    /// How many blocks its rows take.
    pub fn blocks(&self) -> pg_sys::BlockNumber {
        // SAFETY: the relation is open, and has a file.
        unsafe { blocks(self.relation) }
    }
}

/// Locks a relation until the end of the transaction. Whether it is there is found out afterwards.
pub fn lock(oid: pg_sys::Oid, lock: u32) {
    // SAFETY: a lock is taken by OID; any number can be locked.
    unsafe { ffi::LockRelationOid(oid, lock as pg_sys::LOCKMODE) };
}

/// Locks something of a name that a table has rows about, whether there are some or not, until the end of the transaction. By
/// chance it is also locked by another name.
pub fn lock_name(table: pg_sys::Oid, name: &CStr) {
    let number = pg_sys::Oid::from(ffi::hash(name.to_bytes()));
    let mode = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;
    // SAFETY: any numbers can be locked.
    unsafe { ffi::LockDatabaseObject(table, number, 0, mode) };
}

/// A table with all that inherit from it, as partitions do, locked until the end of the transaction.
///
/// # Safety
/// `table` exists, and is locked.
pub unsafe fn with_inheritors(table: pg_sys::Oid, lock: u32) -> Vec<pg_sys::Oid> {
    // SAFETY: the caller has locked the table; the server makes a list of OIDs.
    unsafe {
        list::oids(ffi::find_all_inheritors(
            table,
            lock as pg_sys::LOCKMODE,
            std::ptr::null_mut(),
        ))
    }
}

/// Whether the rows are kept, and read, as PostgreSQL itself does it. An access method of another name may have the
/// same routines.
///
/// # Safety
/// `table` is open.
pub unsafe fn is_heap(table: pg_sys::Relation) -> bool {
    // SAFETY: an open relation has its entry in the relation cache.
    unsafe { std::ptr::eq((*table).rd_tableam, pg_sys::GetHeapamTableAmRoutine()) }
}

/// How many blocks a relation has now.
///
/// # Safety
/// `relation` is open, and has a file.
pub unsafe fn blocks(relation: pg_sys::Relation) -> pg_sys::BlockNumber {
    // SAFETY: the caller's.
    unsafe { ffi::RelationGetNumberOfBlocksInFork(relation, pg_sys::ForkNumber::MAIN_FORKNUM) }
}

/// Whether a relation has a block. What is known of its length without asking the file system will do: relations in use
/// only grow.
///
/// # Safety
/// `relation` is open.
#[inline]
pub unsafe fn has_block(relation: pg_sys::Relation, block: pg_sys::BlockNumber) -> bool {
    // SAFETY: the relation is open; if its file is, too, the storage manager keeps the length that it saw last.
    unsafe {
        let storage = (*relation).rd_smgr;
        if !storage.is_null() {
            let main = pg_sys::ForkNumber::MAIN_FORKNUM as usize;
            let known = (*storage).smgr_cached_nblocks[main];
            if known != pg_sys::InvalidBlockNumber && block < known {
                return true;
            }
        }
        block < blocks(relation)
    }
}
