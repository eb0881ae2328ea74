//! The tables of a job: their columns, who may read them, and whether an index has what is needed.

use std::ffi::{CStr, CString};

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, PgList, PgSqlErrorCode};

use crate::objects::is_signature;
use crate::pairs::table::{IndexedTable, LOCK};
pub use crate::pg::catalog::quoted as qualified;
use crate::pg::catalog::storage::is_read_from;
use crate::pg::catalog::{may_select, may_use_schema};
use crate::pg::error::{raise_as, shown};
use crate::pg::ffi;
use crate::types::readable;

fn fail(code: PgSqlErrorCode, message: String) -> ! {
    raise_as(code, &Error::new(ErrorKind::InvalidParameter, message))
}

fn text(name: &CStr) -> String {
    shown(&readable(name.to_bytes()))
}

/// A column by its name.
pub struct RecordColumn {
    pub name: CString,
    pub type_oid: pg_sys::Oid,
    pub collation: pg_sys::Oid,
}

impl RecordColumn {
    /// Of a relation, with its name.
    ///
    /// Errors: no such column.
    pub fn of(oid: pg_sys::Oid, column: CString, relation: &str) -> RecordColumn {
        RecordColumn::find(oid, column).unwrap_or_else(|column| {
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
    pub fn find(oid: pg_sys::Oid, name: CString) -> Result<RecordColumn, CString> {
        let (mut type_oid, mut typmod, mut collation) = (pg_sys::InvalidOid, 0, pg_sys::InvalidOid);
        // SAFETY: catalog look-ups.
        unsafe {
            let number = pg_sys::get_attnum(oid, name.as_ptr());
            if number <= 0 {
                return Err(name);
            }
            pg_sys::get_atttypetypmodcoll(oid, number, &mut type_oid, &mut typmod, &mut collation);
        }
        Ok(RecordColumn {
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
    pub key: RecordColumn,
    pub signatures: Vec<RecordColumn>,
}

impl Records {
    /// Errors: no relation with rows; no such column; a signature column of another type.
    pub fn new(oid: pg_sys::Oid, key: CString, signatures: Vec<CString>) -> Records {
        let name = lock(oid);
        let column = |column: CString| RecordColumn::of(oid, column, &name);
        // SAFETY: catalog look-ups.
        unsafe {
            let signatures: Vec<RecordColumn> = signatures.into_iter().map(&column).collect();
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
    pub fn indexed(&self) -> Option<Vec<IndexedTable>> {
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
                tables.push(IndexedTable::new(oid, &self.key.name, &signature.name)?);
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
                let number =
                    |column: &RecordColumn| pg_sys::get_attnum(self.oid, column.name.as_ptr());
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

/// What a search is over: one relation, or two whose records are joined with each other.
#[derive(Clone, Copy)]
pub struct Relations<'a> {
    pub left: &'a Records,
    pub right: Option<&'a Records>,
}

impl<'a> Relations<'a> {
    pub fn one(records: &'a Records) -> Relations<'a> {
        Relations {
            left: records,
            right: None,
        }
    }

    pub fn two(left: &'a Records, right: &'a Records) -> Relations<'a> {
        Relations {
            left,
            right: Some(right),
        }
    }
}
