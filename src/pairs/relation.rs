//! The tables of a job: their columns, who may read them, and whether an index has what is needed.

use std::ffi::{CStr, CString};

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, PgList, PgSqlErrorCode};

use crate::objects::is_signature;
pub use crate::pg::catalog::quoted as qualified;
use crate::pg::catalog::storage::{is_heap, is_read_from};
use crate::pg::catalog::{may_select, may_use_schema};
use crate::pg::error::{raise_as, shown};
use crate::pg::ffi;
use crate::sigfile::{is_sigfile, signature_column, Index, Meta};
use crate::types::readable;

const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

fn fail(code: PgSqlErrorCode, message: String) -> ! {
    raise_as(code, &Error::new(ErrorKind::InvalidParameter, message))
}

fn text(name: &CStr) -> String {
    shown(&readable(name.to_bytes()))
}

/// A column by its name.
pub struct Column {
    pub name: CString,
    pub type_oid: pg_sys::Oid,
    pub collation: pg_sys::Oid,
}

impl Column {
    /// Of a relation, with its name.
    ///
    /// Errors: no such column.
    pub fn of(oid: pg_sys::Oid, column: CString, relation: &str) -> Column {
        Column::find(oid, column).unwrap_or_else(|column| {
            fail(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "column \"{}\" of relation \"{relation}\" does not exist",
                    text(&column)
                ),
            )
        })
    }

    /// Gives the name back if there is no such column.
    pub fn find(oid: pg_sys::Oid, name: CString) -> Result<Column, CString> {
        let (mut type_oid, mut typmod, mut collation) = (pg_sys::InvalidOid, 0, pg_sys::InvalidOid);
        // SAFETY: catalog look-ups.
        unsafe {
            let number = pg_sys::get_attnum(oid, name.as_ptr());
            if number <= 0 {
                return Err(name);
            }
            pg_sys::get_atttypetypmodcoll(oid, number, &mut type_oid, &mut typmod, &mut collation);
        }
        Ok(Column {
            name,
            type_oid,
            collation,
        })
    }
}

/// Locks a relation until the end of the transaction. Returns its name.
///
/// Errors: no relation, or one without rows.
pub fn lock(oid: pg_sys::Oid) -> String {
    // SAFETY: catalog look-ups, of a relation that is locked first.
    unsafe {
        ffi::LockRelationOid(oid, LOCK);
        let name = pg_sys::get_rel_name(oid);
        if name.is_null() {
            fail(
                PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
                format!("relation with OID {} does not exist", oid.to_u32()),
            );
        }
        let name = text(CStr::from_ptr(name));
        let kind = pg_sys::get_rel_relkind(oid) as u8;
        if ![
            pg_sys::RELKIND_RELATION,
            pg_sys::RELKIND_PARTITIONED_TABLE,
            pg_sys::RELKIND_MATVIEW,
            pg_sys::RELKIND_VIEW,
            pg_sys::RELKIND_FOREIGN_TABLE,
        ]
        .contains(&kind)
        {
            fail(
                PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                format!("\"{name}\" is not a table or view"),
            );
        }
        name
    }
}

/// A relation that rows are read of, locked until the end of the transaction.
pub struct Records {
    pub oid: pg_sys::Oid,
    pub key: Column,
    pub signatures: Vec<Column>,
}

impl Records {
    /// Errors: no relation with rows; no such column; a signature column of another type.
    pub fn new(oid: pg_sys::Oid, key: CString, signatures: Vec<CString>) -> Records {
        let name = lock(oid);
        let column = |column: CString| Column::of(oid, column, &name);
        // SAFETY: catalog look-ups.
        unsafe {
            let signatures: Vec<Column> = signatures.into_iter().map(&column).collect();
            for signature in &signatures {
                if !is_signature(signature.type_oid) {
                    let is = pg_sys::format_type_be(signature.type_oid);
                    raise_as(
                        PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                        &Error::new(
                            ErrorKind::InvalidParameter,
                            format!(
                                "column \"{}\" of relation \"{name}\" is of type {}, not bloom",
                                text(&signature.name),
                                text(CStr::from_ptr(is))
                            ),
                        )
                        .hint("Name a column of signatures, such as one GENERATED ALWAYS AS (bloom_signature(...)) STORED."),
                    );
                }
            }
            let key = column(key);
            Records {
                oid,
                key,
                signatures,
            }
        }
    }

    /// The tables that hold the rows, each with a sigfile index on the only signature column; `None` if there is not one for each, if
    /// the caller sees the rows through a view or a policy, or if a query would read other rows than those that are there.
    ///
    /// Errors: the caller may not read the columns.
    pub fn indexed(&self) -> Option<Vec<Table>> {
        let [signature] = &self.signatures[..] else {
            return None;
        };
        // SAFETY: catalog look-ups, and relations opened with a lock that stays.
        unsafe {
            let kind = pg_sys::get_rel_relkind(self.oid) as u8;
            if kind == pg_sys::RELKIND_VIEW || kind == pg_sys::RELKIND_FOREIGN_TABLE {
                return None;
            }
            self.check_privileges();
            let rls = pg_sys::check_enable_rls(self.oid, pg_sys::InvalidOid, false);
            if rls == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32 {
                return None;
            }
            let oids = ffi::find_all_inheritors(self.oid, LOCK, std::ptr::null_mut());
            let mut tables = Vec::new();
            for oid in PgList::<pg_sys::Oid>::from_pg(oids).iter_oid() {
                let kind = pg_sys::get_rel_relkind(oid) as u8;
                if kind == pg_sys::RELKIND_PARTITIONED_TABLE {
                    continue;
                }
                if kind != pg_sys::RELKIND_RELATION && kind != pg_sys::RELKIND_MATVIEW {
                    return None;
                }
                tables.push(Table::new(oid, &self.key.name, &signature.name)?);
            }
            let column = pg_sys::get_attnum(self.oid, signature.name.as_ptr());
            let own = tables.iter().map(|table| (*table.heap).rd_id);
            is_read_from(own, self.oid, column, true).then_some(tables)
        }
    }

    /// Errors: as a query of the caller's, without the privilege to look up the table or to SELECT the columns.
    ///
    /// SAFETY: in a transaction, with the relation locked.
    unsafe fn check_privileges(&self) {
        // SAFETY: as promised by the caller; catalog look-ups.
        unsafe {
            let user = pg_sys::GetUserId();
            let (kind, name) = if !may_use_schema(self.oid, user) {
                let schema = pg_sys::get_rel_namespace(self.oid);
                let kind = pg_sys::ObjectType::OBJECT_SCHEMA;
                (kind, pg_sys::get_namespace_name(schema))
            } else {
                let columns = self.signatures.iter().chain([&self.key]);
                let number = |column: &Column| pg_sys::get_attnum(self.oid, column.name.as_ptr());
                let numbers: Vec<i16> = columns.map(number).collect();
                if may_select(self.oid, &numbers, user) {
                    return;
                }
                let kind = pg_sys::get_relkind_objtype(pg_sys::get_rel_relkind(self.oid));
                (kind, pg_sys::get_rel_name(self.oid))
            };
            pg_sys::aclcheck_error(pg_sys::AclResult::ACLCHECK_NO_PRIV, kind, name);
        }
    }
}

/// A table and its index, open; locked until the end of the transaction.
pub struct Table {
    pub heap: pg_sys::Relation,
    pub key: pg_sys::AttrNumber,
    pub index: Index,
    pub meta: Meta,
    /// What it is read with.
    pub snapshot: pg_sys::Snapshot,
}

impl Drop for Table {
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

impl Table {
    /// `None` without a usable index.
    ///
    /// SAFETY: `oid` is a table that is locked; the active snapshot stays so as long as the result is used.
    unsafe fn new(oid: pg_sys::Oid, key: &CStr, signature: &CStr) -> Option<Table> {
        // SAFETY: as promised by the caller.
        unsafe {
            let heap = ffi::table_open(oid, pg_sys::NoLock as i32);
            let persistence = (*(*heap).rd_rel).relpersistence as u8;
            if persistence != pg_sys::RELPERSISTENCE_PERMANENT && pg_sys::RecoveryInProgress() {
                // as the planner says it
                fail(
                    PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                    "cannot access temporary or unlogged relations during recovery".to_owned(),
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
                    let index = Index::new(relation);
                    index.count_scan();
                    let snapshot = pg_sys::GetActiveSnapshot();
                    return Some(Table {
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
    pub unsafe fn again(heap: pg_sys::Oid, index: pg_sys::Oid, words: &[u64]) -> Table {
        // SAFETY: as promised by the caller.
        unsafe {
            let heap = ffi::table_open(heap, LOCK);
            let index = Index::new(ffi::index_open(index, LOCK));
            Table {
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
