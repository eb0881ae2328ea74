//! Whether a guard can write to a table.

use base::Result;
use pg::error::sql_error;
use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::guard::tables::column::wrong_type;
use pg::catalog;
use pg::ffi;
use pg::message::words;
use pg::relation::OpenRelation;

/// What a table must be that a guard writes to.
pub struct TableForm {
    /// What messages call it.
    pub label: &'static str,
    /// The columns that the guard writes: name, declaration and type.
    columns: &'static [(&'static CStr, &'static str, pg_sys::Oid)],
    /// The same in words.
    written: &'static str,
    /// How such a table is created.
    create: &'static str,
}

/// The review table.
pub static REVIEW: TableForm = TableForm {
    label: "review table",
    columns: &[
        (c"key", "key text", pg_sys::TEXTOID),
        (c"duplicate", "duplicate text", pg_sys::TEXTOID),
        (
            c"similarity",
            "similarity double precision",
            pg_sys::FLOAT8OID,
        ),
        (
            c"found_at",
            "found_at timestamp with time zone",
            pg_sys::TIMESTAMPTZOID,
        ),
    ],
    written: "key, duplicate, similarity and found_at",
    create: "Create it with (key text, duplicate text, similarity double precision, \
                found_at timestamp with time zone, PRIMARY KEY (key, duplicate)).",
};

/// The table of skipped rows.
pub static SKIPPED: TableForm = TableForm {
    label: "table of skipped rows",
    columns: &[
        (c"record", "record jsonb", pg_sys::JSONBOID),
        (c"duplicate", "duplicate text", pg_sys::TEXTOID),
        (
            c"similarity",
            "similarity double precision",
            pg_sys::FLOAT8OID,
        ),
        (
            c"found_at",
            "found_at timestamp with time zone",
            pg_sys::TIMESTAMPTZOID,
        ),
        (c"who", "who text", pg_sys::TEXTOID),
    ],
    written: "record, duplicate, similarity, found_at and who",
    create: "Create it with (record jsonb, duplicate text, similarity double \
                precision, found_at timestamp with time zone, who text).",
};

impl TableForm {
    /// Errors: it is no table (42809), lacks columns (42703), has them of other types (42804), or cannot be written to
    /// by values for these columns and ON CONFLICT DO NOTHING (42P16).
    pub fn check(&self, table: pg_sys::Oid) -> Result<()> {
        if !matches!(
            catalog::kind(table),
            pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE
        ) {
            return Err(sql_error(
                PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                words!(
                    "{} \"{}\" is not a table",
                    self.label.replace("table", "relation"),
                    catalog::name(table)
                ),
            )
            .hint(self.create));
        }
        self.check_columns(table)?;
        let open = OpenRelation::table(table, pg_sys::AccessShareLock);
        self.check_not_null(&open)?;
        self.check_constraints(&open)
    }

    fn check_columns(&self, table: pg_sys::Oid) -> Result<()> {
        let mut lacking: Vec<&str> = Vec::new();
        for &(name, declaration, of_type) in self.columns {
            let Some(column) = catalog::column(table, name) else {
                lacking.push(declaration);
                continue;
            };
            let found = catalog::column_type(table, column);
            if found != of_type {
                let wanted = catalog::type_name(of_type);
                return Err(wrong_type(self.label, table, name, found, &wanted));
            }
        }
        if lacking.is_empty() {
            return Ok(());
        }
        Err(sql_error(
            PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
            words!(
                "{} \"{}\" lacks columns: {}",
                self.label,
                catalog::name(table),
                lacking.join(", ")
            ),
        )
        .hint(words!(
            "ALTER TABLE {} ADD {}",
            catalog::quoted(table),
            lacking.join(", ADD ")
        )))
    }

    /// Errors: a column that the guard does not write needs a value.
    fn check_not_null(&self, table: &OpenRelation) -> Result<()> {
        // A trigger may fill a column that has no default.
        let has_triggers = !table.trigdesc.is_null();
        // SAFETY: an open relation has a descriptor, with as many columns as it says.
        let columns = unsafe {
            let descriptor = table.rd_att;
            (0..(*descriptor).natts).map(move |i| &*ffi::attribute(descriptor, i))
        };
        for column in columns {
            // SAFETY: the name of a column is a C string.
            let name = unsafe { CStr::from_ptr(column.attname.data.as_ptr()) };
            let is_written = self.columns.iter().any(|(written, ..)| *written == name);
            let is_filled = column.atthasdef || column.attidentity != 0 || has_triggers;
            if column.attnotnull && !column.attisdropped && !is_written && !is_filled {
                return Err(sql_error(
                    PgSqlErrorCode::ERRCODE_INVALID_TABLE_DEFINITION,
                    words!(
                        "column \"{}\" of {} \"{}\" is not null and has no default",
                        name,
                        self.label,
                        catalog::name(table.rd_id)
                    ),
                )
                .detail(words!("The guard enters {}.", self.written))
                .hint(words!(
                    "ALTER TABLE {} ALTER {} DROP NOT NULL, or SET DEFAULT.",
                    catalog::quoted(table.rd_id),
                    catalog::quoted_column(name)
                )));
            }
        }
        Ok(())
    }

    /// Errors: a unique constraint is deferrable, so PostgreSQL refuses ON CONFLICT DO NOTHING.
    fn check_constraints(&self, table: &OpenRelation) -> Result<()> {
        for oid in table.indexes() {
            let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
            // SAFETY: an open index has its row of pg_index.
            let is_deferrable = unsafe {
                let form = &*index.rd_index;
                form.indisunique && !form.indimmediate
            };
            if is_deferrable {
                return Err(sql_error(
                    PgSqlErrorCode::ERRCODE_INVALID_TABLE_DEFINITION,
                    words!(
                        "constraint \"{}\" of {} \"{}\" is deferrable",
                        catalog::name(oid),
                        self.label,
                        catalog::name(table.rd_id)
                    ),
                )
                .detail(
                    "The guard leaves out what is there already, which PostgreSQL does by \
                immediate constraints only.",
                )
                .hint("Create the constraint NOT DEFERRABLE."));
            }
        }
        Ok(())
    }
}
