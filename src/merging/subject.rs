//! The table whose records are merged.

use std::ffi::{CStr, CString};

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::records::lock;
use crate::pg::catalog;
use crate::pg::catalog::operators;
use crate::pg::error::{raise_as, shown};
use crate::pg::ffi::attribute;
use crate::pg::relation::{self, OpenRelation};
use crate::pg::session::tuple_store::StoreColumn;
use crate::pg::sql::Sql;
use crate::pg::values::text::readable;

/// A name for messages.
pub fn text(name: &CStr) -> String {
    shown(&readable(name.to_bytes()))
}

/// Fails the statement.
pub fn refuse(code: PgSqlErrorCode, message: String, detail: &str, hint: &str) -> ! {
    let mut error = Error::new(ErrorKind::InvalidParameter, message);
    if !detail.is_empty() {
        error = error.detail(detail);
    }
    if !hint.is_empty() {
        error = error.hint(hint);
    }
    raise_as(code, &error)
}

/// A column of a table.
#[derive(Clone)]
pub struct TableColumn {
    pub name: CString,
    pub store: StoreColumn,
    /// The server computes it.
    pub generated: bool,
    /// GENERATED ALWAYS AS IDENTITY.
    pub always: bool,
}

impl TableColumn {
    /// Whether a text of spaces stands for no value.
    pub fn is_text(&self) -> bool {
        // SAFETY: a catalog look-up of a type that exists.
        let base = unsafe { pg_sys::getBaseType(self.store.type_oid) };
        [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID].contains(&base)
    }
}

/// The columns of a locked table.
pub fn columns_of(table: pg_sys::Oid) -> Vec<TableColumn> {
    let open = OpenRelation::locked_table(table);
    // SAFETY: an open table has a descriptor of as many columns as it says; names end with a zero byte.
    unsafe {
        let descriptor = open.rd_att;
        let all = (0..(*descriptor).natts).map(|i| &*attribute(descriptor, i));
        all.filter(|column| !column.attisdropped)
            .map(|column| TableColumn {
                name: CStr::from_ptr(column.attname.data.as_ptr()).to_owned(),
                store: StoreColumn {
                    type_oid: column.atttypid,
                    typmod: column.atttypmod,
                    collation: column.attcollation,
                },
                generated: column.attgenerated != 0,
                always: column.attidentity as u8 == b'a',
            })
            .collect()
    }
}

/// The table, locked until the end of the transaction.
pub struct Subject {
    pub oid: pg_sys::Oid,
    /// For messages.
    pub name: String,
    pub columns: Vec<TableColumn>,
    /// Which column has the keys.
    pub key: usize,
    /// The type of the keys, or the one that it is a domain of.
    pub key_type: StoreColumn,
    /// The operators = and < of keys.
    pub equal: pg_sys::Oid,
    pub less: pg_sys::Oid,
    /// The table, and its partitions.
    pub tree: Vec<pg_sys::Oid>,
}

impl Subject {
    /// Errors: no table of its own rows; no such column; keys that have no order.
    pub fn new(oid: pg_sys::Oid, key: CString, lock_mode: u32) -> Subject {
        let name = lock(oid);
        let kind = catalog::kind(oid);
        let refuse_table = |detail: &str, hint: &str| -> ! {
            refuse(
                PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                format!("cannot merge records of \"{name}\""),
                detail,
                hint,
            )
        };
        match kind {
            pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE => (),
            pg_sys::RELKIND_VIEW => {
                refuse_table("It is a view.", "Merge the records of its table.")
            }
            pg_sys::RELKIND_MATVIEW => refuse_table(
                "It is a materialized view.",
                "Merge the records of its table.",
            ),
            _ => refuse_table("It is a foreign table.", "Merge on the server that has it."),
        }
        relation::lock(oid, lock_mode);
        // SAFETY: the table is locked.
        let tree = unsafe { relation::with_inheritors(oid, lock_mode) };
        if kind == pg_sys::RELKIND_RELATION && tree.len() > 1 {
            refuse_table(
                "Other tables inherit from it, and foreign keys do not reach their rows.",
                "Merge the records of each of them by itself.",
            );
        }
        if OpenRelation::locked_table(oid).form().relispartition {
            refuse_table(
                "It is a partition.",
                "Merge the records of the partitioned table.",
            );
        }
        let columns = columns_of(oid);
        let Some(number) = columns.iter().position(|column| column.name == key) else {
            refuse(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "column \"{}\" of relation \"{name}\" does not exist",
                    text(&key)
                ),
                "",
                "",
            )
        };
        let of_key = columns[number].store;
        // SAFETY: a catalog look-up of a type that exists.
        let base = unsafe { pg_sys::getBaseType(of_key.type_oid) };
        let Some((equal, less)) = operators::of_order(base) else {
            refuse(
                PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                format!(
                    "column \"{}\" of relation \"{name}\" cannot be a key",
                    text(&key)
                ),
                &format!("Its type {} has no order.", text(&catalog::type_name(base))),
                "Name a column whose values are unique.",
            )
        };
        Subject {
            oid,
            name,
            columns,
            key: number,
            key_type: StoreColumn {
                type_oid: base,
                typmod: -1,
                collation: of_key.collation,
            },
            equal,
            less,
            tree,
        }
    }

    /// The name of the key's column.
    pub fn key_name(&self) -> &CStr {
        &self.columns[self.key].name
    }

    /// The position of a column that is given by its name in UTF-8.
    ///
    /// Errors: there is none.
    pub fn column(&self, name: &str) -> usize {
        let is_it = |column: &TableColumn| readable(column.name.to_bytes()) == name;
        self.columns.iter().position(is_it).unwrap_or_else(|| {
            refuse(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "column \"{}\" of relation \"{}\" does not exist",
                    shown(name),
                    self.name
                ),
                "",
                "",
            )
        })
    }

    /// `FROM`-item of the table under an alias.
    pub fn from(&self, alias: &str) -> Sql {
        Sql::new("").only(self.oid).text(" AS ").text(alias)
    }

    /// `alias.key`
    pub fn key_of(&self, alias: &str) -> Sql {
        Sql::new(alias).text(".").name(self.key_name())
    }

    /// The condition that the key of a row under an alias equals an expression of the type of keys.
    pub fn key_is(&self, alias: &str, expression: &str) -> Sql {
        self.key_of(alias)
            .text(" ")
            .operator(self.equal)
            .text(" ")
            .text(expression)
    }
}
