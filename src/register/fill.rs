//! All keys of a register's table, written at once.

use std::ffi::CStr;

use pgrx::{pg_sys, IntoDatum};

use super::stored::Register;
use super::texts::RowTexts;
use pg::budget::Budget;
use pg::error::{raise, sql_error};
use pg::file::{ByteStrings, RecordSort};
use pg::key_table::KeyWriter;
use pg::message::words;
use pg::progress;
use pg::session::acting_user::{as_owner, owned_throughout};
use pg::session::fixed_settings::without_row_security;
use pg::session::{Parameter, Session};
use pg::sql;
use pg::sql::Sql;

use crate::models::reading_fields;
use pgrx::PgSqlErrorCode::{ERRCODE_INVALID_OBJECT_DEFINITION, ERRCODE_NOT_NULL_VIOLATION};

/// Gives the key and the keys in the register of every record of a table to `each`.
///
/// Errors: a key that is NULL; those of reading the table.
pub fn each_record(
    session: &Session,
    register: &Register,
    mut each: impl FnMut(pg_sys::Datum, Vec<i64>),
) {
    let query = records_query(register.relation, &register.key.name, &register.texts);
    reading_fields(|| {
        session.each(&query, &[], |row| {
            progress::step();
            let Some(id) = row.datum(0) else {
                raise(&sql_error(
                    ERRCODE_NOT_NULL_VIOLATION,
                    words!("column \"{register.key.name}\" of table \"{register.relation}\" contains null values"),
                ));
            };
            each(id, register.keys_of(&register.texts.of_query(row, 1)));
        });
    });
}

/// The key and the texts of all records.
fn records_query(table: pg_sys::Oid, key: &CStr, texts: &RowTexts) -> Sql {
    let (columns, only) = (texts.select(), Sql::new("").only(table));
    sql!("SELECT {key}, {columns} FROM {only} AS r")
}

/// Writes the keys of all records to the register's table, which is empty, in their order, so that those of a block are
/// beside each other. The register's table is locked against writers.
///
/// Errors: out of memory; those of reading the table.
pub fn fill(session: &Session, register: &Register) {
    let memory = Budget::of_setting().bytes();
    let mut sort = RecordSort::<2>::new(memory / 2);
    let mut ids = ByteStrings::new(memory / 4);
    let mut records = 0;
    without_row_security(|| {
        each_record(session, register, |id, keys| {
            // SAFETY: of the key's type.
            ids.push(Some(&unsafe { register.key_type.packed(id) }));
            for key in keys {
                sort.push([key as u64, records]);
            }
            records += 1;
        });
    });
    let mut blocks = BlockWriter::new(register, ids);
    each_block(register, sort, |key, records| blocks.write(key, records));
    blocks.finish();
}

/// Gives the blocks of keys and records to `each`, by key: of the records one more than there may be at most, which says
/// that the block is closed.
pub fn each_block(register: &Register, sort: RecordSort<2>, mut each: impl FnMut(i64, &[u64])) {
    let mut block: Option<(i64, Vec<u64>)> = None;
    for [key, record] in sort.finish() {
        progress::step();
        let key = key as i64;
        let (of, records) = block.get_or_insert_with(|| (key, Vec::new()));
        if *of != key {
            each(*of, records);
            *of = key;
            records.clear();
        }
        if records.len() <= register.most_of(key) as usize {
            records.push(record);
        }
    }
    if let Some((key, records)) = block {
        each(key, &records);
    }
}

/// Writes the rows of blocks.
pub struct BlockWriter<'a> {
    register: &'a Register,
    writer: KeyWriter,
    /// The keys of the records, by number.
    ids: ByteStrings,
    /// One of them, aligned as a value.
    value: Vec<u64>,
}

impl BlockWriter<'_> {
    /// `ids`: the keys of the records, packed, by number.
    pub fn new(register: &Register, ids: ByteStrings) -> BlockWriter<'_> {
        BlockWriter {
            register,
            writer: register.keys.write(),
            ids,
            value: Vec::new(),
        }
    }

    /// What was given is written.
    pub fn finish(mut self) {
        self.writer.write();
    }

    /// Writes those of a block: its records, or that it is closed.
    pub fn write(&mut self, key: i64, records: &[u64]) {
        if records.len() > self.register.most_of(key) as usize {
            return self.writer.add(key, None);
        }
        for &record in records {
            let packed = self.ids.get(record).unwrap_or_default();
            // SAFETY: packed before, of the key's type. The row is made of it before the next value takes its place.
            let id = unsafe { self.register.key_type.unpack(packed, &mut self.value) };
            self.writer.add(key, Some(id));
        }
    }
}

/// How many records a block of each search may have, to be looked up by [`OF_KEY`].
pub fn most_by_search(register: &Register) -> Parameter {
    let most: Vec<i64> = register.most.iter().map(|&most| most.into()).collect();
    let most = most.into_datum().unwrap_or(pg_sys::Datum::null());
    (pg_sys::INT8ARRAYOID, most)
}

/// The element of [`most_by_search`], which is the first parameter, for a key: its lowest bits are its search's number.
pub const OF_KEY: &str =
    "($1)[(key OPERATOR(pg_catalog.&) 63)::pg_catalog.int4 OPERATOR(pg_catalog.+) 1]";

/// Empties the table of a register's keys, as its table is emptied.
///
/// Errors: as [`by_owner`].
pub fn empty(register: &Register) {
    let keys = register.keys.oid;
    by_owner(register, keys, |session| {
        session.run(&sql!("TRUNCATE {keys}"), &[])
    });
}

/// Changes a table of a register, as its owner.
///
/// Errors: it has triggers, rules or the like, whose code would run as the register's owner.
pub fn by_owner<T>(register: &Register, table: pg_sys::Oid, run: impl FnOnce(&Session) -> T) -> T {
    let owner = register.owner;
    if owned_throughout(table, owner).is_none() {
        raise(
            &sql_error(
                ERRCODE_INVALID_OBJECT_DEFINITION,
                words!("table \"{table}\" of register \"{register.oid}\" cannot be changed"),
            )
            .detail("It has a trigger, a rule, a policy or an expression whose code would run as the register's owner.")
            .hint("Drop what was added to the table."),
        );
    }
    let session = Session::begin(false);
    as_owner(owner, || run(&session))
}
