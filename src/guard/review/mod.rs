//! The table that suspected pairs go to.

mod builtin;
pub mod write_rights;

use std::cell::Cell;
use std::ffi::{CStr, CString};

use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use write_rights::{self as rights, SwitchedUser};

use super::search::found::SimilarRows;
use super::tables::column as relation;
use crate::pg::error::internal;
use crate::pg::ffi;
use crate::pg::message::{words, Message, Result};
use crate::pg::node;

/// A review table and the plans that insert into it.
pub struct ReviewTable {
    pub table: pg_sys::Oid,
    /// For the invoking user.
    insert: SavedPlan,
    /// The same, that can be looked at between planning and running.
    insert_returning: SavedPlan,
}

/// A statement and its plan, once it was needed.
struct SavedPlan {
    statement: CString,
    plan: Cell<pg_sys::SPIPlanPtr>,
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

impl ReviewTable {
    /// Pairs of a table are not entered the other way round again; those with a list are of two kinds of keys.
    ///
    /// Errors: it is no table (42809), lacks columns (42703), or has them of other types (42804).
    pub fn new(table: pg_sys::Oid, with_list: bool) -> Result<ReviewTable> {
        check(table)?;
        let name = relation::quoted(table);
        let mut statement = words!(
            "INSERT INTO ",
            name,
            " (key, duplicate, similarity, found_at) SELECT $1, $2, $3, pg_catalog.now()"
        );
        if !with_list {
            let only = match relation::kind(table) {
                pg_sys::RELKIND_RELATION => "ONLY ",
                _ => "",
            };
            statement.extend(words!(
                " WHERE NOT EXISTS (SELECT FROM ",
                only,
                name,
                " AS r WHERE r.key OPERATOR(pg_catalog.=) $2 AND r.duplicate OPERATOR(pg_catalog.=) $1)"
            ));
        }
        statement.extend(words!(" ON CONFLICT DO NOTHING"));
        Ok(ReviewTable {
            table,
            insert: SavedPlan::of(words!(statement)),
            insert_returning: SavedPlan::of(words!(statement, " RETURNING 1")),
        })
    }

    /// As the owner of the guarded table, if that runs nothing of others, else as the invoking user.
    ///
    /// Errors: the table has become another one meanwhile, or has got partitions (40001); those of the write.
    pub fn enter(&self, owner: pg_sys::Oid, key: &[u8], found: &SimilarRows) -> Result<()> {
        // SAFETY: in a transaction; what is connected is finished, by its end if there is an error.
        unsafe {
            let tables = if pg_sys::GetUserId() == owner {
                None
            } else {
                rights::owned_throughout(self.table, owner)
            };
            ffi::SPI_connect();
            let acting = tables.as_ref().map(|_| SwitchedUser::begin(owner));
            let mut result = Ok(());
            for m in &found.best {
                let text = |s: &[u8]| {
                    pg_sys::Datum::from(pg_sys::cstring_to_text_with_len(
                        s.as_ptr().cast(),
                        s.len() as i32,
                    ))
                };
                let similarity = m.similarity.into_datum().expect("not NULL");
                let mut values = [text(key), text(&m.key), similarity];
                match &tables {
                    None => self.insert.run(&mut values),
                    Some(tables) => result = self.run_within(tables, owner, &mut values),
                }
                if result.is_err() {
                    break;
                }
            }
            if let Some(acting) = acting {
                acting.end();
            }
            ffi::SPI_finish();
            result
        }
    }

    /// Errors: as for [`ReviewTable::enter`].
    ///
    /// SAFETY: connected to SPI.
    unsafe fn run_within(
        &self,
        tables: &[pg_sys::Oid],
        owner: pg_sys::Oid,
        values: &mut [pg_sys::Datum; 3],
    ) -> Result<()> {
        // SAFETY: as promised by the caller; as many values as the statement has parameters.
        unsafe {
            let cursor = ffi::SPI_cursor_open(
                std::ptr::null(),
                self.insert_returning.prepared(),
                values.as_mut_ptr(),
                std::ptr::null(),
                false,
            );
            let as_seen = rights::stays_within(cursor, tables)
                && rights::owned_throughout(self.table, owner).as_deref() == Some(tables);
            if as_seen {
                ffi::SPI_cursor_fetch(cursor, true, 1);
            }
            ffi::SPI_cursor_close(cursor);
            if as_seen {
                return Ok(());
            }
        }
        Err(Message::of(
            PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
            words!(
                "review table \"",
                relation::name(self.table),
                "\" was changed while it was written to"
            ),
        )
        .hint(words!("Repeat the transaction.")))
    }
}

impl SavedPlan {
    fn of(statement: Vec<u8>) -> SavedPlan {
        SavedPlan {
            statement: CString::new(statement).expect("names have no zero bytes"),
            plan: Cell::new(std::ptr::null_mut()),
        }
    }

    /// SAFETY: connected to SPI.
    unsafe fn run(&self, values: &mut [pg_sys::Datum; 3]) {
        // SAFETY: as promised by the caller; as many values as the statement has parameters.
        unsafe {
            let plan = self.prepared();
            let code = ffi::SPI_execute_plan(plan, values.as_mut_ptr(), std::ptr::null(), false, 0);
            if code < 0 {
                internal!("SPI_execute_plan returned {code}");
            }
        }
    }

    /// SAFETY: connected to SPI.
    unsafe fn prepared(&self) -> pg_sys::SPIPlanPtr {
        if self.plan.get().is_null() {
            let mut types = [pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::FLOAT8OID];
            // SAFETY: as promised by the caller.
            unsafe {
                let plan = ffi::SPI_prepare(self.statement.as_ptr(), 3, types.as_mut_ptr());
                if plan.is_null() || ffi::SPI_keepplan(plan) != 0 {
                    let code = pg_sys::SPI_result;
                    internal!("SPI_prepare returned {code}");
                }
                self.plan.set(plan);
            }
        }
        self.plan.get()
    }
}

impl Drop for SavedPlan {
    fn drop(&mut self) {
        let plan = self.plan.get();
        // SAFETY: a flag of this process. At its end nobody is left to catch an error, and nothing is left to free.
        let ends = unsafe { pg_sys::proc_exit_inprogress };
        if !plan.is_null() && !ends && !std::thread::panicking() {
            // SAFETY: kept by prepared(), and not in use.
            unsafe { ffi::SPI_freeplan(plan) };
        }
    }
}

const CREATE: &str = "Create it with (key text, duplicate text, similarity double precision, found_at timestamp with time zone, PRIMARY KEY (key, duplicate)).";

/// Whether the guard can enter rows that give four columns, and leave out those that are there.
///
/// SAFETY: `table` is a table, open and locked.
unsafe fn check_entering(table: pg_sys::Relation) -> Result<()> {
    // SAFETY: as promised by the caller; as many columns and indexes as are said to be there.
    unsafe {
        let name = || relation::name((*table).rd_id);
        let columns = (*table).rd_att;
        // A trigger may fill what has no default.
        let triggers = !(*table).trigdesc.is_null();
        for i in 0..(*columns).natts {
            let column = &*ffi::attribute(columns, i);
            let column_name = CStr::from_ptr(column.attname.data.as_ptr());
            let given = COLUMNS.iter().any(|(name, ..)| *name == column_name);
            let filled = column.atthasdef || column.attidentity != 0 || triggers;
            if column.attnotnull && !column.attisdropped && !given && !filled {
                return Err(Message::of(
                    PgSqlErrorCode::ERRCODE_INVALID_TABLE_DEFINITION,
                    words!(
                        "column \"",
                        column_name,
                        "\" of review table \"",
                        name(),
                        "\" is not null and has no default"
                    ),
                )
                .detail(words!(
                    "The guard enters key, duplicate, similarity and found_at."
                ))
                .hint(words!(
                    "ALTER TABLE ",
                    relation::quoted((*table).rd_id),
                    " ALTER ",
                    relation::quoted_column(column_name),
                    " DROP NOT NULL, or SET DEFAULT."
                )));
            }
        }
        let indexes = pg_sys::RelationGetIndexList(table);
        for oid in node::oids(indexes) {
            let index = ffi::index_open(oid, pg_sys::AccessShareLock as i32);
            let form = &*(*index).rd_index;
            let deferrable = form.indisunique && !form.indimmediate;
            pg_sys::index_close(index, pg_sys::AccessShareLock as i32);
            if deferrable {
                return Err(Message::of(
                    PgSqlErrorCode::ERRCODE_INVALID_TABLE_DEFINITION,
                    words!(
                        "constraint \"",
                        relation::name(oid),
                        "\" of review table \"",
                        name(),
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
        )
        .hint(words!(CREATE)));
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
        // SAFETY: a table, locked while it is looked at.
        return unsafe {
            let lock = pg_sys::AccessShareLock as i32;
            let open = ffi::table_open(table, lock);
            let fits = check_entering(open);
            pg_sys::table_close(open, lock);
            fits
        };
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
