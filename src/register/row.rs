//! The row of a register: which table it is of, by which model, and which version of it a snapshot sees.

use std::ffi::{CStr, CString};
use std::rc::Rc;

use base::Error;
use pgrx::PgSqlErrorCode::{
    ERRCODE_CARDINALITY_VIOLATION, ERRCODE_INVALID_OBJECT_DEFINITION,
    ERRCODE_T_R_SERIALIZATION_FAILURE, ERRCODE_UNDEFINED_TABLE, ERRCODE_WRONG_OBJECT_TYPE,
};
use pgrx::{pg_sys, FromDatum};

use super::entities::Settings;
use super::options::Options;
use crate::models::{known_model_of, KnownModel};
use pg::catalog;
use pg::error::{raise, sql_error};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::Session;
use pg::snapshot::{now, of_version, ScanSnapshot};
use pg::values::jsonb::json_text;
use pg::{ffi, sql};

/// The columns of a register's row.
const COLUMNS: [&CStr; 10] = [
    c"relation",
    c"key",
    c"model",
    c"records",
    c"types",
    c"keys",
    c"options",
    c"searches",
    c"filled",
    c"entities",
];

/// The row of a register.
pub struct StoredRow {
    pub relation: pg_sys::Oid,
    pub key: CString,
    pub model: Rc<KnownModel>,
    pub records: i64,
    pub types: Vec<pg_sys::Oid>,
    pub keys: pg_sys::Oid,
    pub options: Options,
    /// The number that each search of the model has in its keys.
    pub searches: Vec<i32>,
    pub entities: Vec<Settings>,
}

/// A version of a register's row.
pub type Version = (u32, u32, u16);

pub fn open_register(oid: pg_sys::Oid) -> OpenRelation {
    let kind = catalog::kind(oid);
    if kind == 0 {
        raise(&sql_error(
            ERRCODE_UNDEFINED_TABLE,
            format!("register with OID {} does not exist", oid.to_u32()),
        ));
    }
    if !is_register(oid) {
        raise(
            &sql_error(
                ERRCODE_WRONG_OBJECT_TYPE,
                words!("\"{oid}\" is not a register"),
            )
            .hint("A register is a table that bloom_register_create() has made."),
        );
    }
    OpenRelation::table(oid, pg_sys::AccessShareLock).keep_lock()
}

pub fn not_restored(oid: pg_sys::Oid) -> Error {
    sql_error(
        ERRCODE_CARDINALITY_VIOLATION,
        words!("register \"{oid}\" has no row"),
    )
    .detail("Its row says which table it is of, and by which model.")
    .hint("Restore the data of the register before those of its table, or all of them with triggers disabled.")
}

pub fn several_rows(oid: pg_sys::Oid) -> Error {
    sql_error(
        ERRCODE_CARDINALITY_VIOLATION,
        words!("register \"{oid}\" has more than one row"),
    )
    .hint("Delete those that bloom_register_create() has not made.")
}

/// The first row of a table that a snapshot sees.
pub struct FirstRow<'t> {
    table: &'t OpenRelation,
    _snapshot: ScanSnapshot,
    scan: pg_sys::TableScanDesc,
    slot: *mut pg_sys::TupleTableSlot,
}

impl<'t> FirstRow<'t> {
    pub fn of(table: &'t OpenRelation, snapshot: &ScanSnapshot) -> Option<FirstRow<'t>> {
        let mut row = {
            let none = std::ptr::null_mut();
            // SAFETY: the table is open longer than the scan. The slot is made for it.
            unsafe {
                FirstRow {
                    table,
                    _snapshot: snapshot.clone(),
                    scan: ffi::table_beginscan(table.pointer(), snapshot.pointer(), 0, none),
                    slot: pg_sys::table_slot_create(table.pointer(), std::ptr::null_mut()),
                }
            }
        };
        row.has_another().then_some(row)
    }

    /// Goes to the next one.
    pub fn has_another(&mut self) -> bool {
        let forward = pg_sys::ScanDirection::ForwardScanDirection;
        // SAFETY: the scan has begun, and the slot is one of its table.
        unsafe { ffi::table_scan_getnextslot(self.scan, forward, self.slot) }
    }

    pub fn version(&self) -> Version {
        let mut null = false;
        // SAFETY: the slot holds a row with system columns.
        unsafe {
            let number = pg_sys::MinTransactionIdAttributeNumber;
            let inserter = pg_sys::slot_getsysattr(self.slot, number, &mut null).value() as u32;
            let tid = (*self.slot).tts_tid;
            let block = u32::from(tid.ip_blkid.bi_hi) << 16 | u32::from(tid.ip_blkid.bi_lo);
            (inserter, block, tid.ip_posid)
        }
    }

    /// Whether it is the newest version, as far as that is committed.
    fn is_live(&self) -> bool {
        // SAFETY: the slot holds a row of the table, which is open.
        unsafe {
            pg_sys::table_tuple_satisfies_snapshot(self.table.pointer(), self.slot, of_version())
        }
    }

    /// How often all keys of the register have been written at once.
    fn filled(&self) -> i64 {
        let value = self.of_type(self.table.rd_id, c"filled", pg_sys::INT8OID);
        value.value() as i64
    }

    /// Errors: a value is NULL.
    fn value(&self, name: &CStr) -> pg_sys::Datum {
        let oid = self.table.rd_id;
        let number = catalog::column(oid, name).unwrap_or_default();
        let mut null = false;
        // SAFETY: the slot holds a row; the server refuses the number of a column that there is not.
        let value = unsafe { pg_sys::slot_getattr(self.slot, number.into(), &mut null) };
        if null {
            raise(&sql_error(
                ERRCODE_INVALID_OBJECT_DEFINITION,
                words!("column \"{name}\" of register \"{oid}\" is null"),
            ));
        }
        value
    }

    /// Errors: the column is of another type.
    fn of_type(&self, oid: pg_sys::Oid, name: &CStr, wanted: pg_sys::Oid) -> pg_sys::Datum {
        let number = catalog::column(oid, name).unwrap_or_default();
        if catalog::column_type(oid, number) != wanted {
            raise(
                &sql_error(
                    ERRCODE_WRONG_OBJECT_TYPE,
                    words!("\"{oid}\" is not a register"),
                )
                .hint("A register is a table that bloom_register_create() has made."),
            );
        }
        self.value(name)
    }

    /// The table of the register, and that of its keys.
    fn tables(&self, oid: pg_sys::Oid) -> [pg_sys::Oid; 2] {
        [c"relation", c"keys"].map(|name| {
            let value = self.of_type(oid, name, pg_sys::REGCLASSOID).value();
            pg_sys::Oid::from(value as u32)
        })
    }

    /// Errors: they cannot be read.
    fn settings(&self, oid: pg_sys::Oid) -> Vec<Settings> {
        // SAFETY: a jsonb, as was checked.
        let json = unsafe { json_text(self.of_type(oid, c"entities", pg_sys::JSONBOID)) };
        serde_json::from_str(&json).unwrap_or_else(|_| {
            raise(
                &sql_error(
                    ERRCODE_INVALID_OBJECT_DEFINITION,
                    words!("column \"entities\" of register \"{oid}\" cannot be read"),
                )
                .hint("Only bloom_entities_create() and bloom_entities_drop() write it."),
            )
        })
    }

    pub fn read(&self, oid: pg_sys::Oid) -> StoredRow {
        let of_type = |name: &CStr, wanted: pg_sys::Oid| self.of_type(oid, name, wanted);
        let [relation, keys] = self.tables(oid);
        // SAFETY: the values are of the types that were checked, and are copied.
        unsafe {
            let types = of_type(c"types", pg_sys::REGTYPEARRAYOID);
            let searches = of_type(c"searches", pg_sys::INT4ARRAYOID);
            StoredRow {
                relation,
                entities: self.settings(oid),
                key: CStr::from_ptr(of_type(c"key", pg_sys::NAMEOID).cast_mut_ptr()).to_owned(),
                model: known_model_of(of_type(c"model", pg_sys::JSONBOID)).0,
                records: of_type(c"records", pg_sys::INT8OID).value() as i64,
                types: without_null(types, pg_sys::InvalidOid),
                keys,
                options: Options::read(&json_text(of_type(c"options", pg_sys::JSONBOID))),
                searches: without_null(searches, -1),
            }
        }
    }
}

impl Drop for FirstRow<'_> {
    fn drop(&mut self) {
        // After an error the server ends the scan, and frees the slot with its memory.
        if !std::thread::panicking() {
            // SAFETY: both were made by `of`, and only this ends them.
            unsafe {
                ffi::table_endscan(self.scan);
                pg_sys::ExecDropSingleTupleTableSlot(self.slot);
            }
        }
    }
}

/// The elements of an array, with another value for NULL.
///
/// # Safety
/// The value is an array of elements of this type.
unsafe fn without_null<T: FromDatum + Copy>(array: pg_sys::Datum, null: T) -> Vec<T>
where
    Vec<Option<T>>: FromDatum,
{
    // SAFETY: the caller's.
    let all: Option<Vec<Option<T>>> = unsafe { FromDatum::from_datum(array, false) };
    let all = all.unwrap_or_default().into_iter();
    all.map(|element| element.unwrap_or(null)).collect()
}

/// The table of a register and that of its keys, as its row says, whatever has become of them; `None` without a row.
///
/// Errors: it is no register; it has several rows.
pub fn tables_of(oid: pg_sys::Oid) -> Option<[pg_sys::Oid; 2]> {
    let table = open_register(oid);
    let mut row = FirstRow::of(&table, &ScanSnapshot::active())?;
    let stored = row.tables(oid);
    if row.has_another() {
        raise(&several_rows(oid));
    }
    Some(stored)
}

/// Errors: a snapshot is older than the keys of a register, so that it does not see them. Who holds a lock on their table
/// knows that this stays so.
pub fn check_sees_keys(oid: pg_sys::Oid, snapshot: &ScanSnapshot) {
    let table = open_register(oid);
    let seen = FirstRow::of(&table, snapshot);
    if seen.as_ref().is_some_and(FirstRow::is_live) {
        return;
    }
    let filled = |row: &FirstRow<'_>| row.filled();
    let is_same = FirstRow::of(&table, &now()).as_ref().map(filled) == seen.as_ref().map(filled);
    // SAFETY: a look at a variable of the server.
    let has_written = unsafe { pg_sys::GetTopTransactionIdIfAny() != pg_sys::InvalidTransactionId };
    // Keys that were replaced one by one are there for the snapshot; but what this transaction has written since has the new
    // ones only.
    if is_same && !has_written {
        return;
    }
    raise(
        &sql_error(
            ERRCODE_T_R_SERIALIZATION_FAILURE,
            words!("could not read register \"{oid}\", as its keys are younger than the snapshot of the query"),
        )
        .detail("bloom_register_check() has mended it, or bloom_register_refit() has given it another model.")
        .hint("The transaction might succeed if it is retried."),
    );
}

/// The statement that makes a register's row.
pub fn row_statement(register: pg_sys::Oid) -> pg::sql::Sql {
    sql!(
        "INSERT INTO {register} (relation, key, model, records, types, keys, options, searches) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
    )
}

/// The statement that gives a register another model.
pub fn model_statement(register: pg_sys::Oid) -> pg::sql::Sql {
    sql!(
        "UPDATE {register} SET model = $1, records = $2, types = $3, searches = $4, made = pg_catalog.now()"
    )
}

/// The statement that says that all keys were written at once.
pub fn filled_statement(register: pg_sys::Oid) -> pg::sql::Sql {
    sql!("UPDATE {register} SET filled = filled OPERATOR(pg_catalog.+) 1")
}

/// How the entities of a register are made, as its row says now, whatever has become of their tables.
///
/// Errors: it is no register.
pub fn settings_of(oid: pg_sys::Oid) -> Vec<Settings> {
    let table = open_register(oid);
    let row = FirstRow::of(&table, &now());
    row.map_or(Vec::new(), |row| row.settings(oid))
}

/// The tables beside a relation that look like registers, and have its owner.
pub fn registers_beside(relation: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    let query = sql!(
        "SELECT r.oid FROM pg_catalog.pg_class AS r, pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) $1 \
        AND r.relnamespace OPERATOR(pg_catalog.=) c.relnamespace AND r.relkind OPERATOR(pg_catalog.=) 'r' ORDER BY r.oid"
    );
    let mut found = Vec::new();
    let parameters = [(pg_sys::OIDOID, relation.into())];
    Session::begin(true).each(&query, &parameters, |row| found.push(row.oid(0)));
    let owner = |oid| OpenRelation::find(oid, pg_sys::AccessShareLock).map(|r| r.form().relowner);
    let wanted = owner(relation);
    let is_jsonb = |oid: pg_sys::Oid| {
        let number = catalog::column(oid, c"entities").unwrap_or_default();
        catalog::column_type(oid, number) == pg_sys::JSONBOID
    };
    found.retain(|&oid| is_register(oid) && is_jsonb(oid) && owner(oid) == wanted);
    found
}

fn is_register(oid: pg_sys::Oid) -> bool {
    let has = |name: &&CStr| catalog::column(oid, name).is_some();
    catalog::kind(oid) == pg_sys::RELKIND_RELATION && COLUMNS.iter().all(has)
}
