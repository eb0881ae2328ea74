//! A guard on a table that Citus has distributed. Its trigger runs on the shards and compares the rows of one shard. That is a guard of the
//! whole table if it compares `within` the column by whose hash rows are distributed: rows that are equal in it are in one
//! shard.
//!
//! bloom_ident does not need Citus: only if its catalog is there, that is asked.

use std::ffi::CString;

use base::{Error, Result};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_FEATURE_NOT_SUPPORTED, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
};

use super::options::GuardOptions;
use pg::error::sql_error;
use pg::message::words;
use pg::session::{read, BATCH};
use pg::sql::Sql;
use pg::values::text::to_database;

/// How a table is distributed.
pub struct Distribution {
    /// By the hash of this column.
    column: CString,
    /// Whether triggers on distributed tables are allowed.
    has_triggers: bool,
}

impl Distribution {
    /// `None` for a table that is not distributed by the hash of a column.
    pub fn of(table: pg_sys::Oid) -> Option<Distribution> {
        let catalog = c"pg_dist_partition".as_ptr();
        // SAFETY: a look-up in the catalogs by a C string.
        let found =
            unsafe { pg_sys::get_relname_relid(catalog, pg_sys::PG_CATALOG_NAMESPACE.into()) };
        if found == pg_sys::InvalidOid {
            return None;
        }
        let sql = Sql::new(
            "SELECT pg_catalog.column_to_column_name(d.logicalrelid, d.partkey), \
                pg_catalog.current_setting('citus.enable_unsafe_triggers', true) OPERATOR(pg_catalog.=) 'on' \
                FROM pg_catalog.pg_dist_partition AS d \
                WHERE d.logicalrelid OPERATOR(pg_catalog.=) $1 AND d.partmethod OPERATOR(pg_catalog.=) 'h'",
        );
        let mut distribution = None;
        read(sql, &[(pg_sys::OIDOID, table.into())], BATCH).each(|row| {
            distribution = row.text(0).map(|column| Distribution {
                column: CString::new(to_database(column.as_str())).unwrap_or_default(),
                has_triggers: row.datum(1).is_some() && row.is_true(1),
            });
        });
        distribution
    }

    /// Errors: the guard would compare rows that are in other shards, or names tables that are not on the nodes with
    /// the shards (0A000); Citus does not allow the trigger (55000).
    pub fn check(&self, table: pg_sys::Oid, options: &GuardOptions) -> Result<()> {
        let column = &self.column;
        if !options.within.contains(column) {
            return Err(refused(table)
                .detail(words!(
                    "It is distributed by the hash of column \"{column}\", and rows that are equal in \
                     that column are all that one shard has together."
                ))
                .hint(words!(
                    "Take option \"within\" with column \"{column}\", or guard the whole table by \
                     bloom_citus_guard_create() of extension bloom_ident_citus."
                )));
        }
        let tables = [
            ("blocklist", &options.list),
            ("review", &options.review),
            ("skipped", &options.skipped),
            ("decisions", &options.decisions),
            ("register", &options.register),
        ];
        if let Some((name, _)) = tables.iter().find(|(_, given)| given.is_some()) {
            return Err(refused(table)
                .detail(words!(
                    "The table of option \"{name}\" would be looked for on each node that has shards."
                ))
                .hint("Leave the option out, or write the trigger yourself, with the name that the table has there."));
        }
        if !self.has_triggers {
            return Err(sql_error(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                words!("triggers on distributed table \"{table}\" are not allowed"),
            )
            .detail("Citus has them only with its setting citus.enable_unsafe_triggers.")
            .hint("SET citus.enable_unsafe_triggers = on, which a superuser may."));
        }
        Ok(())
    }
}

fn refused(table: pg_sys::Oid) -> Error {
    sql_error(
        ERRCODE_FEATURE_NOT_SUPPORTED,
        words!("cannot create a guard on distributed table \"{table}\""),
    )
}
