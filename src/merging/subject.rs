//! The table whose records are merged.

use pg::error::{raise, sql_error};
use std::ffi::CString;
use std::ops::Deref;

use pgrx::{pg_sys, PgSqlErrorCode};

pub use crate::clusters::keeping::{columns_of, text, KeyedRelation, TableColumn};
use crate::pairs::records::lock;
use pg::catalog::{self, storage};
use pg::message::words;
use pg::relation::{self, OpenRelation};

/// The table, locked until the end of the transaction.
pub struct Subject {
    table: KeyedRelation,
    /// The table, and its partitions.
    pub tree: Vec<pg_sys::Oid>,
}

impl Deref for Subject {
    type Target = KeyedRelation;

    fn deref(&self) -> &KeyedRelation {
        &self.table
    }
}

impl Subject {
    /// Errors: no table of its own rows; one of Citus; no such column; keys that have no order.
    pub fn new(oid: pg_sys::Oid, key: CString, lock_mode: u32) -> Subject {
        let name = lock(oid);
        let kind = catalog::kind(oid);
        let refuse_table = |detail: &str, hint: &str| -> ! {
            raise(
                &sql_error(
                    PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                    format!("cannot merge records of \"{name}\""),
                )
                .detail(detail)
                .hint(hint),
            )
        };
        let merge_table = "Merge the records of its table.";
        match kind {
            pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE => (),
            pg_sys::RELKIND_VIEW => refuse_table("It is a view.", merge_table),
            pg_sys::RELKIND_MATVIEW => refuse_table("It is a materialized view.", merge_table),
            _ => refuse_table("It is a foreign table.", "Merge on the server that has it."),
        }
        check_own(oid, &format!("cannot merge records of \"{name}\""));
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
        Subject {
            table: KeyedRelation::new(oid, name, &key, true),
            tree,
        }
    }
}

/// Errors: Citus keeps the rows of the table (0A000).
pub fn check_own(oid: pg_sys::Oid, cannot: &str) {
    if storage::is_distributed(oid) {
        let why = "A merge locks, compares and changes rows of several tables together, which Citus does not do with shards.";
        let table = catalog::quoted(oid);
        raise(&storage::distributed(cannot, why).hint(words!(
            "SELECT undistribute_table('{table}'), merge, and distribute the table again."
        )));
    }
}
