//! A register as its tables say, and ready for use.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::rc::Rc;

use base::{Error, Result};
use linkage::model::keys::{search_of, stored_key, NUMBERS};
use linkage::model::{ReadyRecord, MOST_SEARCHES};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_DATATYPE_MISMATCH, ERRCODE_INVALID_OBJECT_DEFINITION, ERRCODE_INVALID_TABLE_DEFINITION,
    ERRCODE_UNDEFINED_COLUMN, ERRCODE_UNDEFINED_TABLE,
};

use super::entities::{EntityTable, Settings};
use super::key_type::KeyType;
use super::options::Options;
use super::prefix::{self, Names};
use super::row::{
    check_sees_keys, not_restored, open_register, several_rows, FirstRow, StoredRow, Version,
};
use super::texts::{c_names, RowTexts};
use crate::models::{field_columns, ForRecords, KnownModel};
use crate::pairs::records::RecordColumn;
use pg::catalog;
use pg::catalog::changes::{self, Watch};
use pg::error::{raise, sql_error, OrRaise};
use pg::key_table::{index_on, types_of_columns, KeyReader, KeyTable};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::SavedPlan;
use pg::session_state::map_bytes;
use pg::snapshot::ScanSnapshot;
use pg::values::text::readable;

/// What is known of a register.
pub struct Register {
    pub oid: pg_sys::Oid,
    /// The version of its row that says all of this.
    pub version: Version,
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
    /// The number that each search of the model has in its keys. It stays when the model is replaced by one that has the same
    /// search, wherever it has it.
    pub numbers_in_keys: Vec<usize>,
    /// Of each number in keys how many records a block may have.
    pub most: Vec<u32>,
    pub options: Options,
    pub texts: RowTexts,
    /// The numbers of the columns that the model reads.
    pub numbers: Vec<i16>,
    /// The names that are found by their beginnings, if any are.
    pub names: Option<Names>,
    /// The tables of entities that are kept by it.
    pub settings: Vec<Settings>,
    entities: OnceCell<Vec<EntityTable>>,
    /// How candidates are read, and under which name of the table that was planned.
    pub fetch: RefCell<Option<(CString, Rc<SavedPlan<1>>)>>,
}

/// A register that was used.
struct Kept {
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
    pub fn open(oid: pg_sys::Oid, snapshot: &ScanSnapshot) -> Rc<Register> {
        let since = changes::now();
        let table = open_register(oid);
        let row = FirstRow::of(&table, snapshot);
        let Some(mut row) = row else {
            raise(&not_restored(oid));
        };
        let version = row.version();
        let known = REGISTERS.with_borrow(|registers| {
            let kept = registers.get(&oid)?;
            let is_same = kept.register.version == version && kept.watch.is_unchanged();
            is_same.then(|| Rc::clone(&kept.register))
        });
        if let Some(register) = known {
            return register;
        }
        let stored = row.read(oid);
        if row.has_another() {
            raise(&several_rows(oid));
        }
        drop(row);
        let register = Rc::new(Register::new(oid, version, stored).or_raise());
        let mut watched = vec![oid, register.relation, register.keys.oid];
        for settings in &register.settings {
            watched.extend(settings.tables(oid));
            watched.extend(settings.table_of_decisions(oid));
        }
        let kept = Kept {
            watch: Watch::new(since, watched),
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

    /// What a row says.
    ///
    /// Errors: as [`Register::open`].
    pub fn new(oid: pg_sys::Oid, version: Version, row: StoredRow) -> Result<Register> {
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
        let searches = &known.ready.model().searches;
        let numbers_in_keys =
            numbers_in_keys(&row.searches, searches.len()).ok_or_else(|| forged_numbers(&name))?;
        let mut most = vec![0; NUMBERS];
        for (&number, planned) in numbers_in_keys.iter().zip(searches) {
            most[number] = planned.search.most();
        }
        let model = known.ready.model();
        let names = row.options.prefix.then(|| Names::of(model)).flatten();
        if names.is_some() {
            most[prefix::NUMBER] = prefix::MOST;
        }
        let texts = RowTexts::new(row.relation, table.form().reltype, columns);
        Ok(Register {
            oid,
            version,
            relation: row.relation,
            owner,
            key_number: catalog::column(row.relation, &key.name).unwrap_or_default(),
            key,
            key_type,
            keys,
            rows,
            of,
            records: row.records,
            numbers_in_keys,
            most,
            options: row.options,
            numbers: texts.numbers(row.relation),
            texts,
            names,
            known,
            settings: row.entities,
            entities: OnceCell::new(),
            fetch: RefCell::default(),
        })
    }

    /// The tables of entities that are kept by the register.
    ///
    /// Errors: one was dropped, or is not as it was made.
    pub fn entities(&self) -> Result<&[EntityTable]> {
        if let Some(known) = self.entities.get() {
            return Ok(known);
        }
        let all = self.settings.iter().map(|of| EntityTable::open(self, of));
        let all = all.collect::<Result<_>>()?;
        Ok(self.entities.get_or_init(|| all))
    }

    /// The keys of a record, as they are stored, ascending, each once: those of the searches, and of beginnings of names.
    pub fn keys_of<T: AsRef<str>>(&self, record: &[Option<T>]) -> Vec<i64> {
        let mut keys = self.search_keys_of(record);
        if let Some(names) = &self.names {
            names.keys(&self.known.ready, record, |key| keys.push(key));
            keys.sort_unstable();
            keys.dedup();
        }
        keys
    }

    /// Those of the searches. A search's number is in its keys.
    pub fn search_keys_of<T: AsRef<str>>(&self, record: &[Option<T>]) -> Vec<i64> {
        let mut keys = Vec::new();
        let each = |search: usize, key: u64| {
            keys.push(stored_key(self.numbers_in_keys[search], key) as i64);
        };
        self.known
            .ready
            .keys(&self.of.keys, record, each)
            .or_raise();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// In which sessions the register's own trigger of a table fires, as pg_trigger has it, that is for each row, or for each
    /// statement; `None` if it is missing. It fires for all that changes rows.
    fn trigger_state(&self, table: pg_sys::Oid, is_for_rows: bool) -> Option<u8> {
        let table = OpenRelation::table(table, pg_sys::AccessShareLock);
        let name = catalog::name(self.oid);
        let rows =
            pg_sys::TRIGGER_TYPE_INSERT | pg_sys::TRIGGER_TYPE_UPDATE | pg_sys::TRIGGER_TYPE_DELETE;
        let of_type = match is_for_rows {
            true => pg_sys::TRIGGER_TYPE_ROW | rows,
            false => pg_sys::TRIGGER_TYPE_TRUNCATE,
        };
        let function = match table.rd_id == self.relation {
            true => c"bloom_register_keep_wrapper",
            false => c"bloom_entities_decide_wrapper",
        };
        // SAFETY: the arguments of a trigger are C strings.
        let is_of_register = |trigger: &&pg_sys::Trigger| unsafe {
            trigger.tgnargs == 1
                && trigger.tgtype as u32 == of_type
                && (trigger.tgnattr == 0 && trigger.tgqual.is_null())
                && CStr::from_ptr(*trigger.tgargs) == name.as_c_str()
                && catalog::is_of_library(trigger.tgfoid, function)
        };
        let triggers = table.triggers();
        let found = triggers.iter().find(is_of_register);
        found.map(|trigger| trigger.tgenabled as u8)
    }

    /// Whether that trigger is there, and fires in every session.
    pub fn has_trigger(&self, table: pg_sys::Oid, is_for_rows: bool) -> bool {
        self.trigger_state(table, is_for_rows) == Some(pg_sys::TRIGGER_FIRES_ALWAYS)
    }

    /// The same of the two that keep the register: of one that does not fire in every session, if there is such a one.
    fn kept_state(&self) -> Option<u8> {
        let [of_rows, of_truncate] =
            [true, false].map(|of_row| self.trigger_state(self.relation, of_row));
        match of_rows? {
            pg_sys::TRIGGER_FIRES_ALWAYS => of_truncate,
            other => of_truncate.and(Some(other)),
        }
    }

    /// How many of them do not.
    pub fn triggers_lost(&self) -> i64 {
        let lost = [true, false].map(|of_row| !self.has_trigger(self.relation, of_row));
        lost.map(i64::from).iter().sum()
    }

    /// Whether they are there, and fire in every session.
    pub fn is_kept(&self) -> bool {
        self.kept_state() == Some(pg_sys::TRIGGER_FIRES_ALWAYS)
    }

    /// Errors: a trigger that keeps the register is missing, or was disabled, so that rows may have been missed; those of
    /// [`Register::check_logged`].
    pub fn check_kept(&self) {
        self.check_logged();
        let name = catalog::quoted(self.oid);
        let what = match self.kept_state() {
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
        self.known
            .ready
            .prepare(&mut ready, record, None)
            .or_raise();
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
        self.most[search_of(key as u64)]
    }

    /// The number in the model of the search that a key is of.
    pub fn search_of(&self, key: i64) -> usize {
        let number = search_of(key as u64);
        let mut numbers = self.numbers_in_keys.iter();
        numbers.position(|&of| of == number).unwrap_or_default()
    }

    /// Opens the keys for a query.
    ///
    /// Errors: the snapshot is older than the keys, so that the query would find none.
    pub fn read_keys(&self, snapshot: &ScanSnapshot) -> KeyReader {
        // Whoever writes them all anew locks them: they stay as they are from here on.
        let _locked = OpenRelation::table(self.keys.oid, pg_sys::AccessShareLock);
        check_sees_keys(self.oid, snapshot);
        self.keys.read(snapshot)
    }
}

/// The numbers of so many searches in keys; `None` if they cannot be.
fn numbers_in_keys(stored: &[i32], searches: usize) -> Option<Vec<usize>> {
    let mut is_taken = [false; MOST_SEARCHES];
    let number = |&number: &i32| {
        let number = usize::try_from(number).ok()?;
        let is_free = !std::mem::replace(is_taken.get_mut(number)?, true);
        is_free.then_some(number)
    };
    let numbers: Option<Vec<usize>> = stored.iter().map(number).collect();
    numbers.filter(|numbers| numbers.len() == searches)
}

fn forged_numbers(register: &CStr) -> Error {
    sql_error(
        ERRCODE_INVALID_OBJECT_DEFINITION,
        words!("column \"searches\" of register \"{register}\" does not fit its model"),
    )
    .detail("It has the number of each search in its keys.")
    .hint("Drop the register by bloom_register_drop(), and make another one.")
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
    let lacks = |why: Vec<u8>| {
        sql_error(
            ERRCODE_INVALID_OBJECT_DEFINITION,
            words!("the tables of register \"{register}\" are not as they were made"),
        )
        .detail(why)
        .hint("Drop the register by bloom_register_drop(), and make another one.")
    };
    let Some(table) = OpenRelation::find(oid, pg_sys::AccessShareLock) else {
        return Err(lacks(words!("That of its keys does not exist.")));
    };
    check_plain(&table, &[pg_sys::INT8OID, id])
        .map_err(|why| lacks(words!("The table \"{oid}\" {why}.")))?;
    // Only a table that is being filled has none.
    let column = (1, false);
    let (index, is_covered) = index_on(&table, column).unwrap_or((pg_sys::InvalidOid, false));
    Ok(KeyTable {
        oid,
        index,
        column,
        is_covered,
        equality: (pg_sys::F_INT8EQ.into(), pg_sys::InvalidOid),
        types: types_of_columns(&[pg_sys::INT8OID, id]),
    })
}

/// Whether rows can be added to a table without the executor, which is what computes expressions and looks at
/// predicates.
///
/// Errors: why not; or it has columns of other types than these.
pub fn check_plain(
    table: &OpenRelation,
    types: &[pg_sys::Oid],
) -> std::result::Result<(), &'static str> {
    if !table.is_heap() {
        return Err("is not a heap");
    }
    let of_type = |column: &pg_sys::FormData_pg_attribute| match column.attisdropped {
        true => pg_sys::InvalidOid,
        false => column.atttypid,
    };
    if !table.columns().map(of_type).eq(types.iter().copied()) {
        return Err("has other columns");
    }
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
        return Err("has an index with an expression or a condition");
    }
    // SAFETY: an open table has a descriptor, with a description of constraints or NULL.
    let checks = unsafe { (*table.rd_att).constr.as_ref() };
    let has_check = checks.is_some_and(|all| all.num_check > 0);
    let has_key = table.triggers().iter().any(|trigger| trigger.tgisinternal);
    match (has_check, has_key) {
        (true, _) => Err("has a check constraint"),
        (_, true) => Err("has a foreign key, or is referred to by one"),
        _ => Ok(()),
    }
}

/// Errors: register, keys and table do not belong to the same user, so that one could write to what is another's.
fn check_owners(register: pg_sys::Oid, keys: pg_sys::Oid, table: pg_sys::Oid) -> Result<()> {
    let owner = |oid| OpenRelation::find(oid, pg_sys::AccessShareLock).map(|r| r.form().relowner);
    let wanted = owner(table);
    // A table that was dropped is told of by who needs it.
    let is_other = |&oid: &pg_sys::Oid| owner(oid).is_some_and(|owner| Some(owner) != wanted);
    let other = [register, keys].into_iter().find(is_other);
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
    let all = number.map_or(Vec::new(), |number| table.btrees_on(number, true));
    // Others find keys that are written otherwise, too.
    let is_exact = |(_, collation): &(_, pg_sys::Oid)| catalog::is_deterministic(*collation);
    let Some((index, collation)) = all.into_iter().find(is_exact) else {
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
        .hint(words!("CREATE UNIQUE INDEX ON {quoted} ({column}), or name the column that is the primary key.")));
    };
    // SAFETY: a look-up in the type cache, whose entries stay.
    let equality = unsafe {
        let entry = pg_sys::lookup_type_cache(key.type_oid, pg_sys::TYPECACHE_EQ_OPR as i32);
        pg_sys::get_opcode((*entry).eq_opr)
    };
    Ok(KeyTable {
        oid,
        index,
        column: (number.unwrap_or_default(), true),
        is_covered: false,
        equality: (equality, collation),
        types: types_of_columns(&[]),
    })
}
