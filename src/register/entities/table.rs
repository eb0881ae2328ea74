//! The tables of entities: `<name>` has the entity of each record, `<name>_changes` what has become of entities.

use std::ffi::CString;

use base::{Error, Result};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{ERRCODE_INVALID_OBJECT_DEFINITION, ERRCODE_UNDEFINED_TABLE};
use serde::{Deserialize, Serialize};

use super::super::stored::{check_plain, Register};
use crate::clusters::Method;
use crate::pairs::decisions::DecisionTable;
use pg::error::sql_error;
use pg::key_table::{types_of_columns, KeyTable};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::snapshot::now;
use pg::tree::list;
use pg::values::text::to_database;
use pg::{catalog, ffi, relation};

/// What is behind the name of a table of entities in that of its changes.
pub const CHANGES: &str = "_changes";

/// How the entities of a table are made, as the register's row has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The table, which is in the register's schema.
    pub entities: String,
    pub min_probability: f64,
    pub method: String,
    pub max_size: Option<u32>,
    /// The table of decisions, which is in the register's schema.
    pub decisions: Option<String>,
    /// Whether transactions that change entities notify those that listen.
    #[serde(default = "yes")]
    pub notify: bool,
}

fn yes() -> bool {
    true
}

impl Settings {
    /// The table of entities in the schema of a register.
    pub fn table(&self, register: pg_sys::Oid) -> pg_sys::Oid {
        relation_beside(register, &self.entities)
    }

    /// That table, and the table of its changes.
    pub fn tables(&self, register: pg_sys::Oid) -> [pg_sys::Oid; 2] {
        let changes = format!("{}{CHANGES}", self.entities);
        [&self.entities, &changes].map(|name| relation_beside(register, name))
    }

    /// The table of decisions there, if there are any.
    pub fn table_of_decisions(&self, register: pg_sys::Oid) -> Option<pg_sys::Oid> {
        self.decisions
            .as_ref()
            .map(|name| relation_beside(register, name))
    }
}

/// The relation of a name in the schema of another one.
fn relation_beside(other: pg_sys::Oid, name: &str) -> pg_sys::Oid {
    let name = CString::new(to_database(name)).unwrap_or_default();
    // SAFETY: look-ups in the catalogs by OID and a C string.
    unsafe { pg_sys::get_relname_relid(name.as_ptr(), pg_sys::get_rel_namespace(other)) }
}

/// A table of entities, and how they are made.
pub struct EntityTable {
    /// Rows by the record's key.
    pub by_key: KeyTable,
    /// Rows by the entity.
    pub by_entity: KeyTable,
    pub changes: KeyTable,
    /// The sequences of entities and of changes.
    pub sequences: [pg_sys::Oid; 2],
    pub least: f64,
    pub method: Method,
    pub most: u32,
    pub decisions: Option<DecisionTable>,
    notify: bool,
}

impl EntityTable {
    /// Errors: a table is missing, belongs to another user, or is not as it was made.
    pub fn open(register: &Register, settings: &Settings) -> Result<EntityTable> {
        let name = settings.entities.as_str();
        let oids = [name.to_owned(), format!("{name}{CHANGES}")]
            .map(|name| (relation_beside(register.oid, &name), name));
        for (oid, table) in &oids {
            if *oid == pg_sys::InvalidOid {
                return Err(missing(register.oid, table, name));
            }
        }
        let [entities, changes] = oids.map(|(oid, _)| oid);
        let columns = [
            (entities, vec![register.key.type_oid, pg_sys::INT8OID]),
            (
                changes,
                vec![
                    pg_sys::INT8OID,
                    pg_sys::TIMESTAMPTZOID,
                    register.key.type_oid,
                    pg_sys::INT8OID,
                    pg_sys::TEXTOID,
                    pg_sys::INT4OID,
                    pg_sys::INT8ARRAYOID,
                ],
            ),
        ];
        for (oid, types) in &columns {
            let table = OpenRelation::table(*oid, pg_sys::AccessShareLock);
            let lacks = |why: &str| not_as_made(*oid, why);
            if table.form().relowner != register.owner {
                return Err(lacks("belongs to another user than the register's table"));
            }
            check_plain(&table, types).map_err(lacks)?;
        }
        let table = OpenRelation::table(entities, pg_sys::AccessShareLock);
        let by = |column: i16, what: &str, of_type: pg_sys::Oid| {
            let (index, collation) = table
                .btree_on(column, column == 1)
                .ok_or_else(|| not_as_made(entities, what))?;
            // SAFETY: a look-up in the type cache, whose entries stay.
            let equality = unsafe {
                let entry = pg_sys::lookup_type_cache(of_type, pg_sys::TYPECACHE_EQ_OPR as i32);
                pg_sys::get_opcode((*entry).eq_opr)
            };
            Ok(KeyTable {
                oid: entities,
                index,
                column: (column, column == 1),
                is_covered: false,
                equality: (equality, collation),
                types: types_of_columns(&columns[0].1),
            })
        };
        let by_key = by(1, "has no unique index on \"key\"", register.key.type_oid)?;
        let by_entity = by(2, "has no index on \"entity\"", pg_sys::INT8OID)?;
        let table_of_changes = OpenRelation::table(changes, pg_sys::AccessShareLock);
        let by_number = table_of_changes.btree_on(1, true);
        let changes = KeyTable {
            oid: changes,
            index: by_number.map_or(pg_sys::InvalidOid, |(index, _)| index),
            column: (1, true),
            is_covered: false,
            equality: (pg_sys::F_INT8EQ.into(), pg_sys::InvalidOid),
            types: types_of_columns(&columns[1].1),
        };
        let sequences = [entities, changes.oid]
            .map(|oid| sequence_of(oid).ok_or_else(|| not_as_made(oid, "has no sequence")));
        let [of_entities, of_changes] = sequences;
        let decisions = match (
            settings.table_of_decisions(register.oid),
            &settings.decisions,
        ) {
            (Some(pg_sys::InvalidOid), Some(table)) => {
                return Err(missing(register.oid, table, name));
            }
            (Some(oid), _) => {
                relation::lock(oid, pg_sys::AccessShareLock);
                Some(DecisionTable::new(oid, register.owner, false)?)
            }
            (None, _) => None,
        };
        Ok(EntityTable {
            by_key,
            by_entity,
            changes,
            sequences: [of_entities?, of_changes?],
            least: settings.min_probability,
            method: Method::of_name(&settings.method),
            most: settings.max_size.unwrap_or(u32::MAX),
            decisions,
            notify: settings.notify,
        })
    }

    pub fn oid(&self) -> pg_sys::Oid {
        self.by_key.oid
    }

    /// A number that no entity has.
    pub fn new_entity(&self) -> i64 {
        self.next(0, Some(&self.by_entity))
    }

    /// The same while the sequence is as new as the table.
    pub fn first_entity(&self) -> i64 {
        self.next(0, None)
    }

    /// A number that no change has, where these have a unique index yet.
    pub fn new_change(&self) -> i64 {
        let is_indexed = self.changes.index != pg_sys::InvalidOid;
        self.next(1, is_indexed.then_some(&self.changes))
    }

    /// A new number of an entity (0) or of a change (1), whoever may use the sequence, also where that is behind the table:
    /// sequences are not replicated, and not restored with the data alone.
    ///
    /// Errors: the sequence is at its end.
    fn next(&self, of: usize, table: Option<&KeyTable>) -> i64 {
        let mut reader = table.map(|table| table.read(&now()));
        loop {
            // SAFETY: the sequence was found in the catalogs; if it is gone, the server says so.
            let number = unsafe { ffi::nextval_internal(self.sequences[of], false) };
            let mut is_taken = false;
            if let Some(reader) = &mut reader {
                reader.each(number, |_| {
                    is_taken = true;
                    false
                });
            }
            if !is_taken {
                return number;
            }
        }
    }

    /// Adds the number of a change to those that listen: one notification a transaction, whatever it has changed.
    pub fn notify(&self) {
        if !self.notify {
            return;
        }
        let channel = catalog::name(self.oid());
        // SAFETY: C strings, which are copied.
        unsafe { ffi::Async_Notify(channel.as_ptr(), c"".as_ptr()) };
    }
}

fn missing(register: pg_sys::Oid, table: &str, entities: &str) -> Error {
    let quoted = catalog::quoted(register);
    sql_error(
        ERRCODE_UNDEFINED_TABLE,
        words!("table \"{table}\" of the entities of register \"{register}\" does not exist"),
    )
    .detail("It was dropped, renamed or moved to another schema than the register.")
    .hint(words!(
        "Name it as it was, or: SELECT bloom_entities_drop('{quoted}', '{entities}')"
    ))
}

fn not_as_made(table: pg_sys::Oid, why: &str) -> Error {
    sql_error(
        ERRCODE_INVALID_OBJECT_DEFINITION,
        words!("table \"{table}\" of entities is not as it was made"),
    )
    .detail(words!("It {why}."))
    .hint("Drop the entities by bloom_entities_drop(), and make them anew.")
}

/// The sequence that belongs to a table.
fn sequence_of(table: pg_sys::Oid) -> Option<pg_sys::Oid> {
    // SAFETY: a look-up in the catalogs, which gives NULL or a list of OIDs.
    unsafe { list::oids(pg_sys::getOwnedSequences(table)) }
        .first()
        .copied()
}
