//! `bloom_entities_create` and `bloom_entities_drop`.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{CStr, CString};

use base::Error;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_INVALID_NAME, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, ERRCODE_UNDEFINED_OBJECT,
};

use super::super::create::{
    check_free, check_not_distributed, check_owner, check_snapshot, grant_reading, relation_of,
    suffixed,
};
use super::super::row::{settings_of, tables_of};
use super::super::stored::Register;
use super::component::{Component, EntityReader, Reach};
use super::neighbours::Neighbours;
use super::table::{EntityTable, Settings, CHANGES};
use super::turn::join;
use crate::clusters::Method;
use crate::models::min_probability;
use crate::pairs::decisions::DecisionTable;
use pg::budget::Budget;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::key_table::{KeyWriter, TOGETHER};
use pg::memory::{in_scratch, Scratch};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::fixed_settings::without_row_security;
use pg::session::{not_during_recovery, Session};
use pg::snapshot::{now, ScanSnapshot};
use pg::sql::{literal, Sql};
use pg::values::jsonb::jsonb_datum;
use pg::values::text::readable;
use pg::values::varlena::NewValue;
use pg::{catalog, check_for_interrupts, entry, progress, relation, sql};

/// The longest name of a table of entities: that of its changes is longer.
const LONGEST: usize = pg_sys::NAMEDATALEN as usize - 1 - CHANGES.len();

/// `(register regclass, entities name, min_probability float8, method text, max_size integer,
/// decisions regclass, notify boolean) RETURNS regclass`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_entities_create(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_entities_create()");
    // SAFETY: the SQL function is declared with these arguments, and is running, with its function.
    let (arguments, function) = unsafe { (Arguments::new(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    let (oid, name) = (arguments.oid(0), arguments.name(1));
    let decisions = arguments.datum(5).map(|_| arguments.oid(5));
    let settings = Settings {
        entities: readable(name.to_bytes()),
        min_probability: min_probability(arguments, 2),
        method: arguments.text(3),
        max_size: arguments
            .datum(4)
            .map(|_| crate::clusters::max_size(arguments, 4)),
        decisions: decisions.map(|oid| readable(catalog::name(oid).to_bytes())),
        notify: arguments.boolean(6),
    };
    Method::of_name(&settings.method);
    let register = Register::open(oid, &ScanSnapshot::active());
    check_owner(register.relation);
    check_snapshot();
    relation::lock(register.relation, pg_sys::ShareRowExclusiveLock);
    join(&register);
    register.check_kept();
    let schema = catalog::schema(oid);
    check_name(&schema, &name);
    let session = Session::begin(false);
    if let Some(decisions) = decisions {
        keep_decisions(&session, &register, decisions, function);
    }
    let entities = make_tables(&session, &register, &schema, &name);
    let mut all = settings_of(oid);
    all.push(settings.clone());
    write_settings(&session, oid, &all);
    let made = Register::latest(oid, register.relation).or_raise();
    let table = EntityTable::open(&made, &settings).or_raise();
    made.settle_all(&session, &table, true);
    NewValue(pg_sys::Datum::from(entities))
}

/// `(register regclass, entities name) RETURNS void`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_entities_drop(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_entities_drop()");
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (oid, name) = (arguments.oid(0), arguments.name(1));
    catalog::check_exists(oid).or_raise();
    check_owner(oid);
    if let Some([table, _]) = tables_of(oid).filter(|[table, _]| catalog::kind(*table) != 0) {
        relation::lock(table, pg_sys::ShareRowExclusiveLock);
    }
    let session = Session::begin(false);
    let mut all = settings_of(oid);
    let (count, shown) = (all.len(), readable(name.to_bytes()));
    let decisions = all.iter().find(|settings| settings.entities == shown);
    let decisions = decisions.and_then(|settings| settings.table_of_decisions(oid));
    all.retain(|settings| settings.entities != shown);
    if all.len() == count {
        let quoted = catalog::quoted(oid);
        raise(
            &sql_error(
                ERRCODE_UNDEFINED_OBJECT,
                words!("register \"{oid}\" has no entities in a table \"{shown}\""),
            )
            .hint(words!(
                "SELECT e ->> 'entities' FROM {quoted} AS r, jsonb_array_elements(r.entities) AS e"
            )),
        );
    }
    write_settings(&session, oid, &all);
    let is_used = |decisions: &pg_sys::Oid| {
        all.iter()
            .any(|other| other.table_of_decisions(oid) == Some(*decisions))
    };
    if let Some(decisions) = decisions.filter(|decisions| !is_used(decisions)) {
        drop_decision_triggers(&session, decisions, oid);
    }
    let schema = catalog::schema(oid);
    for name in [changes_name(&name), name] {
        let table = relation_of(&schema, &name);
        if table != pg_sys::InvalidOid {
            check_owner(table);
            session.run(&sql!("DROP TABLE {table}"), &[]);
        }
    }
    NewValue(pg_sys::Datum::null())
}

fn changes_name(name: &CStr) -> CString {
    suffixed(name, CHANGES)
}

fn write_settings(session: &Session, register: pg_sys::Oid, settings: &[Settings]) {
    let json = serde_json::to_string(settings).unwrap_or_default();
    let value = (pg_sys::JSONBOID, jsonb_datum(&json));
    session.run(&sql!("UPDATE {register} SET entities = $1"), &[value]);
    // SAFETY: the register is to be seen as it is now.
    unsafe { pg_sys::CommandCounterIncrement() };
}

/// Errors: the name is too long, or one of the tables would be called as another one is.
fn check_name(schema: &CStr, name: &CStr) {
    let within = [schema.to_bytes(), b"."].concat();
    if name.to_bytes().starts_with(&within) {
        raise(
            &sql_error(
                ERRCODE_INVALID_NAME,
                words!("the name \"{name}\" of entities has a schema in it"),
            )
            .detail("Entities are in the schema of their register.")
            .hint("Leave it out."),
        );
    }
    let length = name.to_bytes().len();
    if length > LONGEST {
        raise(
            &sql_error(
                ERRCODE_INVALID_NAME,
                words!("the name \"{name}\" is too long for entities"),
            )
            .detail(format!("It has {length} bytes, and may have {LONGEST}."))
            .hint("Give them a shorter name."),
        );
    }
    let all = [name.to_owned(), changes_name(name)];
    check_free(
        schema,
        &all,
        "Give the entities another name, or drop the others by bloom_entities_drop().",
    );
}

/// Has decisions change entities: an index by either record, and triggers.
///
/// Errors: the table is in another schema than the register, or one of Citus; it cannot be a table of decisions.
fn keep_decisions(
    session: &Session,
    register: &Register,
    decisions: pg_sys::Oid,
    function: pg_sys::Oid,
) {
    catalog::check_exists(decisions).or_raise();
    check_owner(decisions);
    relation::lock(decisions, pg_sys::ShareRowExclusiveLock);
    check_not_distributed(
        decisions,
        words!("entities cannot follow the decisions of table \"{decisions}\""),
    );
    if catalog::schema(decisions) != catalog::schema(register.oid) {
        raise(
            &sql_error(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                words!("table \"{decisions}\" of decisions is not in the schema of register \"{register.oid}\""),
            )
            .hint(words!(
                "ALTER TABLE {catalog::quoted(decisions)} SET SCHEMA {catalog::schema(register.oid)}"
            )),
        );
    }
    DecisionTable::new(decisions, register.owner, false).or_raise();
    let open = OpenRelation::locked_table(decisions);
    let lacks_index = |column: &&CStr| {
        let number = catalog::column(decisions, column).unwrap_or_default();
        open.btree_on(number, false).is_none()
    };
    let columns: Vec<&CStr> = [c"a", c"b"].into_iter().filter(lacks_index).collect();
    drop(open);
    for column in columns {
        session.run(&sql!("CREATE INDEX ON {decisions} ({column})"), &[]);
    }
    drop_decision_triggers(session, decisions, register.oid);
    let own = Sql::new("").name_in(
        &catalog::schema_of_function(function),
        c"bloom_entities_decide",
    );
    let (name, argument) = (
        catalog::name(register.oid),
        literal(&catalog::name(register.oid)),
    );
    for (suffix, event, each) in DECISION_TRIGGERS {
        let trigger = suffixed(&name, suffix);
        session.run(
            &sql!("CREATE TRIGGER {trigger} AFTER {event} ON {decisions} FOR EACH {each} EXECUTE FUNCTION {own}({argument})"),
            &[],
        );
        session.run(
            &sql!("ALTER TABLE {decisions} ENABLE ALWAYS TRIGGER {trigger}"),
            &[],
        );
    }
}

/// What is behind the register's name in those of the triggers on decisions.
const DECISION_TRIGGERS: [(&str, &str, &str); 2] = [
    ("_decide", "INSERT OR UPDATE OR DELETE", "ROW"),
    ("_forget", "TRUNCATE", "STATEMENT"),
];

fn drop_decision_triggers(session: &Session, decisions: pg_sys::Oid, register: pg_sys::Oid) {
    if catalog::kind(decisions) == 0 {
        return;
    }
    for (suffix, ..) in DECISION_TRIGGERS {
        let trigger = suffixed(&catalog::name(register), suffix);
        // SAFETY: a look-up in the catalogs by OID and a C string.
        let found = unsafe { pg_sys::get_trigger_oid(decisions, trigger.as_ptr(), true) };
        if found != pg_sys::InvalidOid {
            session.run(&sql!("DROP TRIGGER {trigger} ON {decisions}"), &[]);
        }
    }
}

/// Makes the tables of entities, which belong to the owner of the register's table. Whoever may read all of the table
/// may read them.
fn make_tables(session: &Session, register: &Register, schema: &CStr, name: &CStr) -> pg_sys::Oid {
    let changes = changes_name(name);
    let [table, of_changes] = [name, &changes].map(|name| Sql::new("").name_in(schema, name));
    let of_type = Sql::new("").exact_type(register.key.type_oid);
    let collation = Sql::new("").collate(register.key.collation);
    let open = OpenRelation::locked_table(register.relation);
    let persistence = match open.form().relpersistence as u8 {
        pg_sys::RELPERSISTENCE_UNLOGGED => "UNLOGGED ",
        _ => "",
    };
    let statements = [
        sql!(
            "CREATE {persistence}TABLE {table} (key {of_type}{collation} PRIMARY KEY, \
            entity pg_catalog.int8 GENERATED BY DEFAULT AS IDENTITY)"
        ),
        sql!("CREATE INDEX ON {table} (entity)"),
        sql!(
            "CREATE {persistence}TABLE {of_changes} (id pg_catalog.int8 GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, \
            at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(), key {of_type}{collation}, \
            entity pg_catalog.int8 NOT NULL, change pg_catalog.text NOT NULL, size pg_catalog.int4 NOT NULL, \
            others pg_catalog.int8[] NOT NULL)"
        ),
    ];
    for statement in statements {
        session.run(&statement, &[]);
    }
    // SAFETY: what was made is to be seen.
    unsafe { pg_sys::CommandCounterIncrement() };
    let [oid, changes] = [name, &changes].map(|name| relation_of(schema, name));
    let about = [
        (oid, "entity of each record of a register"),
        (changes, "what has become of the entities of a register"),
    ];
    let owner = register.owner;
    // SAFETY: a look-up in the catalogs, which gives a C string.
    let owner = unsafe { CStr::from_ptr(pg_sys::GetUserNameFromId(owner, false)) };
    for (table, about) in about {
        session.run(&sql!("ALTER TABLE {table} OWNER TO {owner}"), &[]);
        session.run(&sql!("COMMENT ON TABLE {table} IS '{about}'"), &[]);
        grant_reading(session, register.relation, table);
    }
    oid
}

impl Register {
    /// Finds out all entities of the register once more, after its keys were written anew, and makes the triggers on
    /// decisions anew that are missing. `function` is one of this extension. The register's table is locked against writers.
    ///
    /// Errors: as [`Register::settle_all`].
    pub fn mend_entities(&self, function: pg_sys::Oid) {
        let session = Session::begin(false);
        for decisions in self.without_triggers() {
            keep_decisions(&session, self, decisions, function);
        }
        self.settle_entities();
    }

    /// What is otherwise with entities than it would be if they were made now: records in other entities, and tables of
    /// decisions that these would not follow; `None` without entities.
    ///
    /// Errors: as [`Register::settle_all`].
    pub fn compare_entities(&self) -> Option<[i64; 2]> {
        if self.settings.is_empty() {
            return None;
        }
        join(self);
        let session = Session::begin(false);
        let all = self.entities().or_raise().iter();
        let otherwise = all
            .map(|entities| self.settle_all(&session, entities, false))
            .sum();
        Some([otherwise, self.without_triggers().len() as i64])
    }

    /// The tables of decisions whose triggers are missing, or do not fire in every session.
    fn without_triggers(&self) -> Vec<pg_sys::Oid> {
        let all = self.settings.iter();
        let mut tables: Vec<pg_sys::Oid> =
            all.filter_map(|s| s.table_of_decisions(self.oid)).collect();
        tables.sort_unstable_by_key(|oid| oid.to_u32());
        tables.dedup();
        let has = |table: pg_sys::Oid| [true, false].map(|of_row| self.has_trigger(table, of_row));
        tables.retain(|&decisions| has(decisions).contains(&false));
        tables
    }

    /// As [`Register::mend_entities`], where decisions have their triggers.
    pub fn settle_entities(&self) {
        if self.settings.is_empty() {
            return;
        }
        join(self);
        let session = Session::begin(false);
        for entities in self.entities().or_raise() {
            self.settle_all(&session, entities, true);
        }
    }

    /// Finds out the entity of every record, and writes what is otherwise than before, if `apply` says so. Gives how many
    /// records are in other entities then. The register's table is locked against writers.
    ///
    /// Errors: too many records hang together; those of reading values.
    fn settle_all(&self, session: &Session, entities: &EntityTable, apply: bool) -> i64 {
        let (key, only) = (&self.key.name, Sql::new("").only(self.relation));
        let oid = entities.oid();
        let is_new = session.number(
            &sql!("SELECT pg_catalog.count(*) FROM (SELECT FROM {oid} LIMIT 1) AS e"),
            &[],
        ) == 0;
        let gone = sql!(
            "SELECT e.key FROM {oid} AS e WHERE NOT EXISTS (SELECT FROM {only} AS r WHERE r.{key} OPERATOR(pg_catalog.=) e.key)"
        );
        let all =
            sql!("SELECT r.{key} FROM {only} AS r WHERE r.{key} IS NOT NULL ORDER BY r.{key}");
        let otherwise = Cell::new(0);
        // The records that were settled with others, some hundred bytes each.
        let (done, most) = (
            RefCell::<HashSet<Vec<u8>>>::default(),
            Budget::of_setting().bytes() / 400,
        );
        // Nobody changes records meanwhile, so those that were compared are kept, some 1,200 bytes each.
        let now = now();
        let neighbours = RefCell::new(Neighbours::new(self, &now));
        neighbours.borrow_mut().most = Budget::of_setting().bytes() / 1500;
        let reader = RefCell::new(EntityReader::new(entities, &now));
        let alone = RefCell::new(apply.then(|| Alone::new(entities)));
        let settle = |query: &Sql| {
            session.each(query, &[], |row| {
                progress::step();
                check_for_interrupts();
                let Some(id) = row.datum(0) else { return };
                in_scratch(c"bloom_ident entity", || {
                    let (bytes, _) = self.identity(id);
                    let (mut neighbours, mut reader) =
                        (neighbours.borrow_mut(), reader.borrow_mut());
                    let (mut alone, mut done) = (alone.borrow_mut(), done.borrow_mut());
                    let is_done = match is_new {
                        true => reader.of(id).is_some(),
                        false => done.contains(&bytes),
                    };
                    if is_done {
                        return;
                    }
                    let mut gather = || {
                        Component::gather(
                            &mut neighbours,
                            &mut reader,
                            entities,
                            &[id],
                            (None, Reach::All),
                        )
                        .or_raise()
                    };
                    let mut component = gather();
                    match &mut *alone {
                        None => {
                            let outcome = component.outcome(self, entities).or_raise();
                            otherwise.set(otherwise.get() + outcome.otherwise());
                        }
                        Some(alone) if component.is_new_alone() => {
                            // A table that was empty has no numbers but those of its sequence.
                            let entity = match is_new {
                                true => entities.first_entity(),
                                false => entities.new_entity(),
                            };
                            alone.add(entity, id, bytes);
                        }
                        Some(alone) => {
                            // Where a decision is found from one side only, who was alone is so no longer.
                            let mut parts = component.parts.iter();
                            if parts.any(|part| alone.waiting.contains(&part.bytes)) {
                                alone.write();
                                component = gather();
                            }
                            let writer = entities.by_key.write();
                            let applied = self.apply(entities, writer, &component, None);
                            applied.or_raise();
                        }
                    }
                    let parts = component.parts;
                    // What is forgotten is looked at again, which costs no more than time.
                    if done.len() > most {
                        done.clear();
                    }
                    if !is_new && parts.len() > 1 {
                        done.extend(parts.into_iter().map(|part| part.bytes));
                    }
                });
            });
        };
        without_row_security(|| {
            settle(&gone);
            settle(&all);
        });
        if let Some(alone) = &mut *alone.borrow_mut() {
            alone.write();
        }
        otherwise.get()
    }
}

/// Records that are alone, to be written together.
struct Alone {
    writer: KeyWriter,
    /// What waits to be written.
    waiting: HashSet<Vec<u8>>,
    memory: Scratch,
}

impl Alone {
    fn new(entities: &EntityTable) -> Alone {
        Alone {
            writer: entities.by_key.write(),
            waiting: HashSet::new(),
            memory: Scratch::new(c"records that are alone"),
        }
    }

    fn add(&mut self, entity: i64, id: pg_sys::Datum, bytes: Vec<u8>) {
        let (writer, row) = (
            &mut self.writer,
            [Some(id), Some(pg_sys::Datum::from(entity))],
        );
        self.memory.within(|| writer.insert(&row));
        self.waiting.insert(bytes);
        if self.waiting.len() == TOGETHER {
            self.write();
        }
    }

    fn write(&mut self) {
        self.writer.write();
        self.waiting.clear();
    }
}

/// Errors: the entities are not those of a register that the caller may read.
pub fn unknown(entities: pg_sys::Oid) -> Error {
    sql_error(
        pgrx::PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
        words!("\"{entities}\" is not a table of entities"),
    )
    .hint("Entities are tables that bloom_entities_create() has made.")
}
