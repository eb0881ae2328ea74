//! A register as its tables say, and ready for use.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::rc::Rc;

use base::{Error, Result};
use linkage::model::keys::stored_key;
use linkage::model::ReadyRecord;
use pgrx::PgSqlErrorCode::{
    ERRCODE_CARDINALITY_VIOLATION, ERRCODE_DATATYPE_MISMATCH, ERRCODE_INVALID_OBJECT_DEFINITION,
    ERRCODE_INVALID_TABLE_DEFINITION, ERRCODE_UNDEFINED_COLUMN, ERRCODE_UNDEFINED_TABLE,
    ERRCODE_WRONG_OBJECT_TYPE,
};
use pgrx::{pg_sys, FromDatum};

use super::key_table::KeyTable;
use super::key_type::KeyType;
use super::texts::{c_names, RowTexts};
use crate::models::{field_columns, known_model_of, ForRecords, KnownModel};
use crate::pairs::records::RecordColumn;
use pg::catalog;
use pg::catalog::changes::{self, Watch};
use pg::error::{raise, sql_error, OrRaise};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session_state::map_bytes;
use pg::values::text::readable;
use pg::{ffi, sql};

/// The columns of a register's row.
const COLUMNS: [&CStr; 7] = [
    c"relation",
    c"key",
    c"model",
    c"records",
    c"types",
    c"keys",
    c"options",
];

/// What is known of a register.
pub struct Register {
    pub oid: pg_sys::Oid,
    /// The table whose records it has.
    pub relation: pg_sys::Oid,
    /// The owner of that table, and of the register.
    pub owner: pg_sys::Oid,
    pub key: RecordColumn,
    /// The number of the key's column.
    pub key_number: i16,
    pub key_type: KeyType,
    /// Rows of a key, and of the key of a record that has it; NULL stands there where the block of the key is closed.
    pub keys: KeyTable,
    /// The table's rows, by a unique index on the key.
    pub rows: KeyTable,
    pub known: Rc<KnownModel>,
    /// For the number of records that is frozen in the register.
    pub of: Rc<ForRecords>,
    pub records: i64,
    /// Of each search of the model, by number, how many records a block may have.
    pub most: Vec<u32>,
    pub texts: RowTexts,
    /// The numbers of the columns that the model reads.
    pub numbers: Vec<i16>,
}

/// The row of a register.
struct StoredRow {
    relation: pg_sys::Oid,
    key: CString,
    model: Rc<KnownModel>,
    records: i64,
    types: Vec<pg_sys::Oid>,
    keys: pg_sys::Oid,
}

/// A version of a register's row.
type Version = (u32, u32, u16);

/// A register that was used, and by which version of its row.
struct Kept {
    version: Version,
    watch: Watch,
    register: Rc<Register>,
}

pg::session_state! {
    static REGISTERS: RefCell<HashMap<pg_sys::Oid, Kept>> = RefCell::default();
    "registers" by "register" until "its row changes, or a table of it"
        bytes |registers| map_bytes(&registers.borrow()) + registers.borrow().len() * size_of::<Register>();
}

/// Registers that are kept at most.
const MOST_KEPT: usize = 64;

impl Register {
    /// The register that a relation is, as a snapshot sees it.
    ///
    /// Errors: it is no register; its table, or a column, was dropped or has another type.
    pub fn open(oid: pg_sys::Oid, snapshot: pg_sys::Snapshot) -> Rc<Register> {
        let since = changes::now();
        let table = open_register(oid);
        let row = FirstRow::of(&table, snapshot);
        let Some(mut row) = row else {
            raise(&not_restored(oid));
        };
        let version = row.version();
        let known = REGISTERS.with_borrow(|registers| {
            let kept = registers.get(&oid)?;
            (kept.version == version).then(|| Rc::clone(&kept.register))
        });
        if let Some(register) = known {
            let is_unchanged = REGISTERS
                .with_borrow(|all| all.get(&oid).is_some_and(|kept| kept.watch.is_unchanged()));
            if is_unchanged {
                return register;
            }
        }
        let stored = row.read(oid);
        if row.has_another() {
            raise(&several_rows(oid));
        }
        drop(row);
        let register = Rc::new(Register::new(oid, stored).or_raise());
        let watched = [oid, register.relation, register.keys.oid];
        let kept = Kept {
            version,
            watch: Watch::new(since, watched.to_vec()),
            register: Rc::clone(&register),
        };
        let gone: Vec<Kept> = REGISTERS.with_borrow_mut(|registers| {
            let mut gone: Vec<Kept> = registers.insert(oid, kept).into_iter().collect();
            if registers.len() > MOST_KEPT {
                let others = registers.extract_if(|&other, _| other != oid);
                gone.extend(others.map(|(_, kept)| kept));
            }
            gone
        });
        // Freeing plans calls the server, so it is done when the map is no longer borrowed.
        drop(gone);
        register
    }

    fn new(oid: pg_sys::Oid, row: StoredRow) -> Result<Register> {
        let name = catalog::name(oid);
        if catalog::kind(row.relation) != pg_sys::RELKIND_RELATION {
            let register = catalog::quoted(oid);
            return Err(sql_error(
                ERRCODE_UNDEFINED_TABLE,
                words!("the table of register \"{name}\" does not exist"),
            )
            .hint(words!("SELECT bloom_register_drop('{register}')")));
        }
        let table = OpenRelation::table(row.relation, pg_sys::AccessShareLock);
        let owner = table.form().relowner;
        let key = RecordColumn::find(row.relation, row.key)
            .map_err(|key| lost_column(&name, row.relation, &key))?;
        let known = row.model;
        let names = known.ready.model().fields.iter().map(|f| f.name.as_str());
        for name_of_field in c_names(names) {
            RecordColumn::find(row.relation, name_of_field)
                .map_err(|column| lost_column(&name, row.relation, &column))?;
        }
        let relation_name = readable(catalog::name(row.relation).to_bytes());
        let names = known.ready.model().fields.iter().map(|f| f.name.as_str());
        let columns = field_columns(row.relation, names, &relation_name);
        let all = std::iter::once(&key).chain(&columns);
        for (column, &was) in all.zip(&row.types) {
            if column.type_oid != was {
                let (is, was) = (catalog::type_name(column.type_oid), catalog::type_name(was));
                let register = catalog::quoted(oid);
                return Err(sql_error(
                    ERRCODE_DATATYPE_MISMATCH,
                    words!(
                        "column \"{column.name}\" of table \"{row.relation}\" is of type {is}, and was of \
                        type {was} when register \"{name}\" was made"
                    ),
                )
                .hint(words!(
                    "Make the register anew: SELECT bloom_register_drop('{register}'), and bloom_register_create()."
                )));
            }
        }
        let key_type = KeyType::new(key.type_oid);
        check_owners(oid, row.keys, row.relation)?;
        let keys = key_table(&name, row.keys, key.type_oid)?;
        let rows = rows_by_key(oid, &table, &key)?;
        let n = row.records as f64;
        let of = known.for_records(n, n * (n - 1.0) / 2.0);
        let most = known.ready.model().searches.iter();
        let most = most.map(|planned| planned.search.most()).collect();
        let texts = RowTexts::new(row.relation, table.form().reltype, columns);
        Ok(Register {
            oid,
            relation: row.relation,
            owner,
            key_number: catalog::column(row.relation, &key.name).unwrap_or_default(),
            key,
            key_type,
            keys,
            rows,
            of,
            records: row.records,
            most,
            numbers: texts.numbers(row.relation),
            texts,
            known,
        })
    }

    /// The keys of a record, as they are stored, ascending, each once. A search's number is in its keys.
    pub fn keys_of<T: AsRef<str>>(&self, record: &[Option<T>]) -> Vec<i64> {
        let mut keys = Vec::new();
        let each = |search: usize, key: u64| keys.push(stored_key(search, key) as i64);
        self.known
            .ready
            .keys(&self.of.keys, record, each)
            .or_raise();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// In which sessions the trigger fires that keeps the register, as pg_trigger has it; `None` if it is missing.
    fn trigger_state(&self) -> Option<u8> {
        let table = OpenRelation::table(self.relation, pg_sys::AccessShareLock);
        let name = catalog::name(self.oid);
        // SAFETY: an open relation has NULL or a description of its triggers, with as many as it says, whose arguments are C
        // strings.
        unsafe {
            let triggers = match table.trigdesc.as_ref() {
                Some(all) => std::slice::from_raw_parts(all.triggers, all.numtriggers as usize),
                None => &[],
            };
            let mut of_register = triggers.iter().filter(|trigger| {
                trigger.tgnargs == 1
                    && CStr::from_ptr(*trigger.tgargs) == name.as_c_str()
                    && trigger.tgtype & pg_sys::TRIGGER_TYPE_ROW as i16 != 0
            });
            of_register.next().map(|trigger| trigger.tgenabled as u8)
        }
    }

    /// Whether the trigger is there, and fires in every session.
    pub fn is_kept(&self) -> bool {
        self.trigger_state() == Some(pg_sys::TRIGGER_FIRES_ALWAYS)
    }

    /// Errors: the trigger that keeps the register is missing, or was disabled, so that rows may have been missed.
    pub fn check_kept(&self) {
        let name = catalog::quoted(self.oid);
        let what = match self.trigger_state() {
            Some(pg_sys::TRIGGER_FIRES_ALWAYS) => return,
            Some(pg_sys::TRIGGER_DISABLED) => "is disabled",
            Some(_) => "was disabled, or does not fire in every session",
            None => "is missing",
        };
        raise(
            &sql_error(
                ERRCODE_INVALID_OBJECT_DEFINITION,
                words!(
                    "the trigger of register \"{self.oid}\" on table \"{self.relation}\" {what}"
                ),
            )
            .detail("Rows may have changed without the register.")
            .hint(words!(
                "SELECT * FROM bloom_register_check('{name}', repair => true)"
            )),
        );
    }

    /// A record that is ready to be compared.
    pub fn prepared<T: AsRef<str>>(&self, record: &[Option<T>]) -> ReadyRecord {
        let mut ready = ReadyRecord::default();
        self.known.ready.prepare(&mut ready, record).or_raise();
        ready
    }

    /// The share of the pairs of one person that its searches find, as the model expects; `None` if that is not known. Of
    /// the model's searches those are left out that would bring too many pairs of so many records.
    pub fn expected_recall(&self) -> Option<f64> {
        let model = self.known.ready.model();
        let is_scan = |&number: &usize| {
            let search = &model.searches[number].search;
            matches!(search, linkage::model::Search::Scan { .. })
        };
        let matches = |number: usize| model.searches[number].matches_per_record;
        let all = (0..model.searches.len()).filter(|number| !is_scan(number));
        let all: f64 = all.map(matches).sum();
        let done: f64 = self.of.keys.searches.iter().map(|s| matches(s.0)).sum();
        model
            .recall
            .filter(|_| all > 0.0)
            .map(|recall| recall * done / all)
    }

    /// How many records a block of this key may have.
    pub fn most_of(&self, key: i64) -> u32 {
        let search = linkage::model::keys::search_of(key as u64);
        self.most.get(search).copied().unwrap_or(0)
    }
}

fn open_register(oid: pg_sys::Oid) -> OpenRelation {
    let kind = catalog::kind(oid);
    if kind == 0 {
        raise(&sql_error(
            ERRCODE_UNDEFINED_TABLE,
            format!("register with OID {} does not exist", oid.to_u32()),
        ));
    }
    let is_register = kind == pg_sys::RELKIND_RELATION
        && COLUMNS
            .iter()
            .all(|name| catalog::column(oid, name).is_some());
    if !is_register {
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

fn not_restored(oid: pg_sys::Oid) -> Error {
    sql_error(
        ERRCODE_CARDINALITY_VIOLATION,
        words!("register \"{oid}\" has no row"),
    )
    .detail("Its row says which table it is of, and by which model.")
    .hint("Restore the data of the register before those of its table, or with triggers disabled.")
}

fn several_rows(oid: pg_sys::Oid) -> Error {
    sql_error(
        ERRCODE_CARDINALITY_VIOLATION,
        words!("register \"{oid}\" has more than one row"),
    )
    .hint("Delete those that bloom_register_create() has not made.")
}

fn lost_column(register: &CStr, table: pg_sys::Oid, column: &CStr) -> Error {
    sql_error(
        ERRCODE_UNDEFINED_COLUMN,
        words!("column \"{column}\" of table \"{table}\" does not exist, and register \"{register}\" needs it"),
    )
    .hint("Name the column as it was, or drop the register by bloom_register_drop(), and make another one.")
}

/// A table of keys, whose second column is of this type.
///
/// Errors: it was dropped, or is not as bloom_register_create() has made it.
fn key_table(register: &CStr, oid: pg_sys::Oid, id: pg_sys::Oid) -> Result<KeyTable> {
    let lacks = |why: &str| {
        sql_error(
            ERRCODE_INVALID_OBJECT_DEFINITION,
            words!("the tables of register \"{register}\" are not as they were made"),
        )
        .detail(words!("The table \"{oid}\" {why}."))
        .hint("Drop the register by bloom_register_drop(), and make another one.")
    };
    let Some(table) = OpenRelation::find(oid, pg_sys::AccessShareLock) else {
        return Err(lacks("does not exist"));
    };
    if !table.is_heap() {
        return Err(lacks("is not a heap"));
    }
    let of_type = |column: &pg_sys::FormData_pg_attribute| match column.attisdropped {
        true => pg_sys::InvalidOid,
        false => column.atttypid,
    };
    let types = table.columns().map(of_type);
    if !types.eq([pg_sys::INT8OID, id]) {
        return Err(lacks("has other columns"));
    }
    // Rows are added without the executor, which is what computes expressions and looks at predicates.
    let is_plain = |&index: &pg_sys::Oid| {
        let index = OpenRelation::index(index, pg_sys::AccessShareLock);
        // SAFETY: an open index has its row of pg_index.
        unsafe {
            pg_sys::RelationGetIndexExpressions(index.pointer()).is_null()
                && pg_sys::RelationGetIndexPredicate(index.pointer()).is_null()
                && !(*index.rd_index).indisexclusion
        }
    };
    if !table.indexes().iter().all(is_plain) {
        return Err(lacks("has an index with an expression or a condition"));
    }
    let index = table.indexes().into_iter().find(|&index| {
        let index = OpenRelation::index(index, pg_sys::AccessShareLock);
        // SAFETY: an open index has its row of pg_index, with at least as many columns as key columns.
        unsafe {
            let form = &*index.rd_index;
            let first = form.indkey.values.as_slice(form.indnkeyatts as usize)[0];
            let is_whole = form.indisvalid && form.indisready && form.indislive;
            is_whole
                && first == 1
                && pg_sys::RelationGetIndexPredicate(index.pointer()).is_null()
                && index.form().relam == pg_sys::BTREE_AM_OID
        }
    });
    // Only a table that is being filled has none.
    let index = index.unwrap_or(pg_sys::InvalidOid);
    let equality = (pg_sys::F_INT8EQ.into(), pg_sys::InvalidOid);
    Ok(KeyTable {
        oid,
        index,
        equality,
    })
}

/// Errors: register, keys and table do not belong to the same user, so that one could write to what is another's.
fn check_owners(register: pg_sys::Oid, keys: pg_sys::Oid, table: pg_sys::Oid) -> Result<()> {
    let owner = |oid| OpenRelation::find(oid, pg_sys::AccessShareLock).map(|r| r.form().relowner);
    let wanted = owner(table);
    let other = [register, keys]
        .into_iter()
        .find(|&oid| owner(oid) != wanted);
    let Some(other) = other else { return Ok(()) };
    let quoted = catalog::quoted(other);
    Err(sql_error(
        ERRCODE_INVALID_OBJECT_DEFINITION,
        words!("table \"{other}\" has another owner than table \"{table}\", of which \"{register}\" is a register"),
    )
    .detail("What a register has is written for the owner of its table.")
    .hint(words!("ALTER TABLE {quoted} OWNER TO the owner of the other one.")))
}

/// The rows of a table by its key.
///
/// Errors: the key has no unique index any more.
pub fn rows_by_key(
    register: pg_sys::Oid,
    table: &OpenRelation,
    key: &RecordColumn,
) -> Result<KeyTable> {
    let oid = table.rd_id;
    let number = catalog::column(oid, &key.name);
    let index = table.indexes().into_iter().find_map(|oid| {
        let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
        // SAFETY: an open index has its row of pg_index, with as many columns as key columns at least, and the collation of
        // each.
        unsafe {
            let form = &*index.rd_index;
            let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
            let is_whole = form.indisvalid && form.indisready && form.indislive;
            let is_of_key = is_whole
                && form.indisunique
                && form.indimmediate
                && columns.len() == 1
                && Some(columns[0]) == number
                && index.form().relam == pg_sys::BTREE_AM_OID
                && pg_sys::RelationGetIndexPredicate(index.pointer()).is_null();
            is_of_key.then(|| (oid, *index.rd_indcollation))
        }
    });
    let Some((index, collation)) = index else {
        let (quoted, column) = (catalog::quoted(oid), catalog::quoted_column(&key.name));
        let of = match register {
            pg_sys::InvalidOid => words!("A register"),
            register => words!("Register \"{register}\""),
        };
        return Err(sql_error(
            ERRCODE_INVALID_TABLE_DEFINITION,
            words!("column \"{key.name}\" of table \"{oid}\" is not unique"),
        )
        .detail(words!(
            "{of} finds records by their keys, so it needs a unique index on that column alone."
        ))
        .hint(words!("ALTER TABLE {quoted} ADD PRIMARY KEY ({column})")));
    };
    // SAFETY: a look-up in the type cache, whose entries stay.
    let equality = unsafe {
        let entry = pg_sys::lookup_type_cache(key.type_oid, pg_sys::TYPECACHE_EQ_OPR as i32);
        pg_sys::get_opcode((*entry).eq_opr)
    };
    Ok(KeyTable {
        oid,
        index,
        equality: (equality, collation),
    })
}

/// The first row of a table that a snapshot sees.
struct FirstRow<'t> {
    table: &'t OpenRelation,
    scan: pg_sys::TableScanDesc,
    slot: *mut pg_sys::TupleTableSlot,
}

impl<'t> FirstRow<'t> {
    fn of(table: &'t OpenRelation, snapshot: pg_sys::Snapshot) -> Option<FirstRow<'t>> {
        let mut row = {
            let none = std::ptr::null_mut();
            // SAFETY: the table is open longer than the scan. The slot is made for it.
            unsafe {
                FirstRow {
                    table,
                    scan: ffi::table_beginscan(table.pointer(), snapshot, 0, none),
                    slot: pg_sys::table_slot_create(table.pointer(), std::ptr::null_mut()),
                }
            }
        };
        row.has_another().then_some(row)
    }

    /// Goes to the next one.
    fn has_another(&mut self) -> bool {
        let forward = pg_sys::ScanDirection::ForwardScanDirection;
        // SAFETY: the scan has begun, and the slot is one of its table.
        unsafe { ffi::table_scan_getnextslot(self.scan, forward, self.slot) }
    }

    fn version(&self) -> Version {
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

    fn read(&self, oid: pg_sys::Oid) -> StoredRow {
        let of_type = |name: &CStr, wanted: pg_sys::Oid| self.of_type(oid, name, wanted);
        let [relation, keys] = self.tables(oid);
        // SAFETY: the values are of the types that were checked, and are copied.
        unsafe {
            let types = of_type(c"types", pg_sys::REGTYPEARRAYOID);
            StoredRow {
                relation,
                key: CStr::from_ptr(of_type(c"key", pg_sys::NAMEOID).cast_mut_ptr()).to_owned(),
                model: known_model_of(of_type(c"model", pg_sys::JSONBOID)).0,
                records: of_type(c"records", pg_sys::INT8OID).value() as i64,
                types: Vec::from_datum(types, false).unwrap_or_default(),
                keys,
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

/// The table of a register and that of its keys, as its row says, whatever has become of them; `None` without a row.
///
/// Errors: it is no register; it has several rows.
pub fn tables_of(oid: pg_sys::Oid) -> Option<[pg_sys::Oid; 2]> {
    let table = open_register(oid);
    // SAFETY: a function runs with a snapshot.
    let mut row = FirstRow::of(&table, unsafe { pg_sys::GetActiveSnapshot() })?;
    let stored = row.tables(oid);
    if row.has_another() {
        raise(&several_rows(oid));
    }
    Some(stored)
}

/// The statement that makes a register's row.
pub fn row_statement(register: pg_sys::Oid) -> pg::sql::Sql {
    sql!("INSERT INTO {register} (relation, key, model, records, types, keys, options) VALUES ($1, $2, $3, $4, $5, $6, $7)")
}
