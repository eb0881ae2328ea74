//! Whether a table can be a review table.

use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::guard::tables::column::wrong_type;
use crate::pg::catalog;
use crate::pg::ffi;
use crate::pg::message::{words, Message, OrMessage};
use crate::pg::relation::OpenRelation;

/// The columns that the guard writes: name, declaration and type.
const COLUMNS: [(&CStr, &str, pg_sys::Oid); 4] = [
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
];

const CREATE: &str = "Create it with (key text, duplicate text, similarity double precision, found_at timestamp with time zone, PRIMARY KEY (key, duplicate)).";

/// Errors: it is no table (42809), lacks columns (42703), has them of other types (42804), or cannot be written to by values
/// for four columns and ON CONFLICT DO NOTHING (42P16).
pub fn check(table: pg_sys::Oid) -> OrMessage<()> {
    if !matches!(
        catalog::kind(table),
        pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE
    ) {
        return Err(Message::of(
            PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            words!(
                "review relation \"",
                catalog::name(table),
                "\" is not a table"
            ),
        )
        .hint(words!(CREATE)));
    }
    check_columns(table)?;
    let open = OpenRelation::table(table, pg_sys::AccessShareLock);
    check_not_null(&open)?;
    check_constraints(&open)
}

fn check_columns(table: pg_sys::Oid) -> OrMessage<()> {
    let mut lacking: Vec<&str> = Vec::new();
    for (name, declaration, of_type) in COLUMNS {
        let Some(column) = catalog::column(table, name) else {
            lacking.push(declaration);
            continue;
        };
        let found = catalog::column_type(table, column);
        if found != of_type {
            let wanted = catalog::type_name(of_type);
            return Err(wrong_type("review table", table, name, found, &wanted));
        }
    }
    if lacking.is_empty() {
        return Ok(());
    }
    Err(Message::of(
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        words!(
            "review table \"",
            catalog::name(table),
            "\" lacks columns: ",
            lacking.join(", ")
        ),
    )
    .hint(words!(
        "ALTER TABLE ",
        catalog::quoted(table),
        " ADD ",
        lacking.join(", ADD ")
    )))
}

/// Errors: a column that the guard does not write needs a value.
fn check_not_null(table: &OpenRelation) -> OrMessage<()> {
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
        let is_written = COLUMNS.iter().any(|(written, ..)| *written == name);
        let is_filled = column.atthasdef || column.attidentity != 0 || has_triggers;
        if column.attnotnull && !column.attisdropped && !is_written && !is_filled {
            return Err(Message::of(
                PgSqlErrorCode::ERRCODE_INVALID_TABLE_DEFINITION,
                words!(
                    "column \"",
                    name,
                    "\" of review table \"",
                    catalog::name(table.rd_id),
                    "\" is not null and has no default"
                ),
            )
            .detail(words!(
                "The guard enters key, duplicate, similarity and found_at."
            ))
            .hint(words!(
                "ALTER TABLE ",
                catalog::quoted(table.rd_id),
                " ALTER ",
                catalog::quoted_column(name),
                " DROP NOT NULL, or SET DEFAULT."
            )));
        }
    }
    Ok(())
}

/// Errors: a unique constraint is deferrable, so PostgreSQL refuses ON CONFLICT DO NOTHING.
fn check_constraints(table: &OpenRelation) -> OrMessage<()> {
    for oid in table.indexes() {
        let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
        // SAFETY: an open index has its row of pg_index.
        let is_deferrable = unsafe {
            let form = &*index.rd_index;
            form.indisunique && !form.indimmediate
        };
        if is_deferrable {
            return Err(Message::of(
                PgSqlErrorCode::ERRCODE_INVALID_TABLE_DEFINITION,
                words!(
                    "constraint \"",
                    catalog::name(oid),
                    "\" of review table \"",
                    catalog::name(table.rd_id),
                    "\" is deferrable"
                ),
            )
            .detail(words!(
                "The guard leaves out a pair that is there, which PostgreSQL does by immediate constraints only."
            ))
            .hint(words!("Create the constraint NOT DEFERRABLE.")));
        }
    }
    Ok(())
}
