//! The table that suspected pairs go to.

use std::ffi::CString;

use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use super::found::Found;
use super::relation;
use crate::pg::ffi;
use crate::pg::message::{words, Message, Result};

/// A review table and the plan that inserts into it, which is freed with this.
pub struct Review {
    pub table: pg_sys::Oid,
    statement: CString,
    plan: std::cell::Cell<pg_sys::SPIPlanPtr>,
}

const COLUMNS: [(&std::ffi::CStr, &str, pg_sys::Oid); 4] = [
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

impl Review {
    /// Pairs of a table are not entered the other way round again; those with a list are of two kinds of keys.
    ///
    /// Errors: it is no table (42809), lacks columns (42703), or has them of other types (42804).
    pub fn new(table: pg_sys::Oid, with_list: bool) -> Result<Review> {
        check(table)?;
        let name = relation::quoted(table);
        let mut statement = words!(
            "INSERT INTO ",
            name,
            " (key, duplicate, similarity, found_at) SELECT $1, $2, $3, pg_catalog.now()"
        );
        if !with_list {
            statement.extend(words!(
                " WHERE NOT EXISTS (SELECT FROM ",
                name,
                " AS r WHERE r.key OPERATOR(pg_catalog.=) $2 AND r.duplicate OPERATOR(pg_catalog.=) $1)"
            ));
        }
        statement.extend(words!(" ON CONFLICT DO NOTHING"));
        Ok(Review {
            table,
            statement: CString::new(statement).expect("names have no zero bytes"),
            plan: std::cell::Cell::new(std::ptr::null_mut()),
        })
    }

    /// As the owner of the guarded table, as foreign keys do it: who enters persons needs no privilege on the review
    /// table, and cannot write into it otherwise.
    pub fn enter(&self, owner: pg_sys::Oid, key: &[u8], found: &Found) {
        // SAFETY: what is changed is changed back, by the end of the transaction if there is an error.
        unsafe {
            let (mut user, mut context) = (pg_sys::InvalidOid, 0);
            pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
            let restricted = context
                | (pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_NOFORCE_RLS) as i32;
            pg_sys::SetUserIdAndSecContext(owner, restricted);
            ffi::SPI_connect();
            let plan = self.plan();
            for m in &found.best {
                let text = |s: &[u8]| {
                    pg_sys::Datum::from(pg_sys::cstring_to_text_with_len(
                        s.as_ptr().cast(),
                        s.len() as i32,
                    ))
                };
                let similarity = m.similarity.into_datum().expect("not NULL");
                let mut values = [text(key), text(&m.key), similarity];
                let code =
                    ffi::SPI_execute_plan(plan, values.as_mut_ptr(), std::ptr::null(), false, 0);
                if code < 0 {
                    crate::pg::error::internal!("SPI_execute_plan returned {code}");
                }
            }
            ffi::SPI_finish();
            pg_sys::SetUserIdAndSecContext(user, context);
        }
    }

    /// SAFETY: connected to SPI.
    unsafe fn plan(&self) -> pg_sys::SPIPlanPtr {
        if self.plan.get().is_null() {
            let mut types = [pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::FLOAT8OID];
            // SAFETY: as promised by the caller.
            unsafe {
                let plan = ffi::SPI_prepare(self.statement.as_ptr(), 3, types.as_mut_ptr());
                if plan.is_null() || ffi::SPI_keepplan(plan) != 0 {
                    let code = pg_sys::SPI_result;
                    crate::pg::error::internal!("SPI_prepare returned {code}");
                }
                self.plan.set(plan);
            }
        }
        self.plan.get()
    }
}

impl Drop for Review {
    fn drop(&mut self) {
        let plan = self.plan.get();
        if !plan.is_null() && !std::thread::panicking() {
            // SAFETY: kept by plan(), and not in use.
            unsafe { ffi::SPI_freeplan(plan) };
        }
    }
}

fn check(table: pg_sys::Oid) -> Result<()> {
    if !matches!(
        relation::kind(table),
        pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE
    ) {
        return Err(Message::of(
            PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            words!(
                "review relation \"",
                relation::name(table),
                "\" is not a table"
            ),
        ));
    }
    let mut missing: Vec<&str> = Vec::new();
    for (name, declared, of_type) in COLUMNS {
        let Some(column) = relation::column(table, name) else {
            missing.push(declared);
            continue;
        };
        let found = relation::column_type(table, column);
        if found != of_type {
            return Err(Message::of(
                PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                words!(
                    "column \"",
                    name,
                    "\" of review table \"",
                    relation::name(table),
                    "\" is of type ",
                    relation::type_name(found),
                    ", not ",
                    relation::type_name(of_type)
                ),
            ));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Message::of(
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        words!(
            "review table \"",
            relation::name(table),
            "\" lacks columns: ",
            missing.join(", ")
        ),
    )
    .hint(words!(
        "ALTER TABLE ",
        relation::quoted(table),
        " ADD ",
        missing.join(", ADD ")
    )))
}
