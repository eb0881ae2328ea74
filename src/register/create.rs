//! `bloom_register_create` and `bloom_register_drop`.

use std::ffi::{CStr, CString};

use base::Error;
use pgrx::PgSqlErrorCode::{
    ERRCODE_ACTIVE_SQL_TRANSACTION, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST, ERRCODE_DUPLICATE_TABLE,
    ERRCODE_FEATURE_NOT_SUPPORTED, ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_INVALID_NAME,
    ERRCODE_WRONG_OBJECT_TYPE,
};
use pgrx::{pg_sys, IntoDatum};

use super::fill::{by_owner, empty, fill};
use super::key_type::check_identity;
use super::options::Options;
use super::prefix::Names;
use super::row::{filled_statement, row_statement, settings_of, tables_of};
use super::stored::{rows_by_key, Register};
use crate::models::{check_of_one_table, field_columns, known_model_of, KnownModel};
use crate::pairs::records::RecordColumn;
use pg::catalog::privileges::{current_user, is_owner};
use pg::catalog::storage;
use pg::error::{raise, sql_error, warn, OrRaise};
use pg::function::arguments::Arguments;
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::fixed_settings::without_row_security;
use pg::session::{not_during_recovery, Parameter, Session};
use pg::sql::{literal, Sql};
use pg::values::text::readable;
use pg::values::varlena::NewValue;
use pg::{catalog, entry, relation, sql};

/// What is behind a register's name in that of the table of its keys.
const KEYS: &str = "_keys";

/// The longest name of a register: those of its tables and triggers are longer.
const LONGEST: usize = pg_sys::NAMEDATALEN as usize - 1 - "_truncate".len();

/// `(model jsonb, rel regclass, key name, register name, options jsonb) RETURNS regclass`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_register_create(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_register_create()");
    // SAFETY: the SQL function is declared with these arguments, and is running, with its function.
    let (arguments, function) = unsafe { (Arguments::new(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    // SAFETY: an argument that is a jsonb.
    let known = unsafe { known_model_of(arguments.given(0)) }.0;
    check_of_one_table(&known.ready, "bloom_register_create()");
    let table = arguments.oid(1);
    let key = arguments.name(2);
    catalog::check_exists(table).or_raise();
    check_owner(table);
    relation::lock(table, pg_sys::ShareRowExclusiveLock);
    catalog::check_exists(table).or_raise();
    let persistence = check_table(table);
    check_snapshot();
    let name = match arguments.datum(3) {
        Some(_) => arguments.name(3),
        None => CString::new([catalog::name(table).as_bytes(), b"_register"].concat())
            .expect("names have no zero bytes"),
    };
    let schema = catalog::schema(table);
    check_name(&schema, &name, arguments.datum(3).is_some());
    let key = RecordColumn::new(table, key);
    check_key(table, &key);
    let types = types_of(table, &key, &known);
    let options = Options::parse(&arguments.jsonb(4)).or_raise();
    if options.prefix && Names::of(known.ready.model()).is_none() {
        raise(
            &Error::invalid("option \"prefix\" is given, and the model has no names")
                .hint("Fit a model with a field of kind name."),
        );
    }
    let session = Session::begin(false);
    let register = make_tables(&session, table, (&schema, &name), &key, persistence);
    let records = options.records;
    let records = records.unwrap_or_else(|| count_records(&session, table, &known));
    let keys = relation_of(&schema, &suffixed(&name, KEYS));
    let types = regtypes(&types);
    let class = |oid: pg_sys::Oid| (pg_sys::REGCLASSOID, pg_sys::Datum::from(oid));
    let values = [
        class(table),
        (pg_sys::NAMEOID, arguments.given(2)),
        (pg_sys::JSONBOID, arguments.given(0)),
        (pg_sys::INT8OID, pg_sys::Datum::from(records)),
        types,
        class(keys),
        (pg_sys::JSONBOID, arguments.given(4)),
        int4s((0..known.ready.model().searches.len() as i32).collect()),
    ];
    session.run(&row_statement(register), &values);
    make_triggers(&session, table, register, function);
    // SAFETY: the row of the register is to be seen.
    unsafe { pg_sys::CommandCounterIncrement() };
    let made = Register::latest(register, table).or_raise();
    fill_and_index(&session, &made);
    NewValue(pg_sys::Datum::from(register))
}

/// `(register regclass) RETURNS void`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_register_drop(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_register_drop()");
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let oid = arguments.oid(0);
    catalog::check_exists(oid).or_raise();
    check_owner(oid);
    let tables = tables_of(oid);
    if let Some(settings) = settings_of(oid).first() {
        let (quoted, name) = (catalog::quoted(oid), &settings.entities);
        raise(
            &sql_error(
                ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
                words!("cannot drop register \"{oid}\", since the entities in table \"{name}\" depend on it"),
            )
            .hint(words!("SELECT bloom_entities_drop('{quoted}', '{name}')")),
        );
    }
    let session = Session::begin(false);
    // Without its row the keys are known by their name, and the triggers go with them.
    let (table, keys) = match tables {
        Some([table, keys]) => (Some(table), keys),
        None => {
            let name = suffixed(&catalog::name(oid), KEYS);
            (None, relation_of(&catalog::schema(oid), &name))
        }
    };
    match table.filter(|&table| catalog::kind(table) != 0) {
        Some(table) => {
            warn_of_guards(table, oid);
            drop_triggers(&session, table, oid);
        }
        None => drop_triggers_of_name(&session, oid),
    }
    let is_of_register = |keys: pg_sys::Oid| {
        catalog::kind(keys) == pg_sys::RELKIND_RELATION
            && catalog::column(keys, c"key") == Some(1)
            && catalog::column(keys, c"id") == Some(2)
    };
    for table in [keys]
        .into_iter()
        .filter(|&keys| is_of_register(keys))
        .chain([oid])
    {
        check_owner(table);
        session.run(&sql!("DROP TABLE {table}"), &[]);
    }
    NewValue(pg_sys::Datum::null())
}

/// The types of the key and of the columns that a model reads.
///
/// Errors: the table has no such columns, or they are not stored.
pub fn types_of(table: pg_sys::Oid, key: &RecordColumn, known: &KnownModel) -> Vec<pg_sys::Oid> {
    let relation_name = readable(catalog::name(table).to_bytes());
    let names = known.ready.model().fields.iter().map(|f| f.name.as_str());
    let columns = field_columns(table, names, &relation_name);
    for column in &columns {
        check_stored(table, column.clone());
    }
    let all = std::iter::once(key).chain(&columns);
    all.map(|column| column.type_oid).collect()
}

/// For how many records a model is used, if nobody says it: those that there are.
pub fn count_records(session: &Session, table: pg_sys::Oid, known: &KnownModel) -> i64 {
    let only = Sql::new("").only(table);
    let records = without_row_security(|| {
        session.number(&sql!("SELECT pg_catalog.count(*) FROM {only}"), &[])
    });
    // Two records are the least that make a pair.
    match records {
        0..2 => known.ready.model().records as i64,
        n => n,
    }
}

/// The guards of a table that ask its register.
pub fn guards(table: pg_sys::Oid, register: pg_sys::Oid) -> Vec<CString> {
    let open = OpenRelation::table(table, pg_sys::AccessShareLock);
    let name = catalog::name(register);
    // SAFETY: names and arguments of a trigger are C strings, as many as it says.
    unsafe {
        let triggers = open.triggers();
        let asks = |trigger: &&pg_sys::Trigger| {
            let args =
                (0..trigger.tgnargs as usize).map(|i| CStr::from_ptr(*trigger.tgargs.add(i)));
            let args: Vec<&CStr> = args.collect();
            args.windows(2)
                .any(|pair| pair == [c"register", name.as_c_str()])
        };
        let names = triggers.iter().filter(asks);
        names
            .map(|trigger| CStr::from_ptr(trigger.tgname).to_owned())
            .collect()
    }
}

/// Warns of the guards that a register leaves behind, which refuse every row then.
fn warn_of_guards(table: pg_sys::Oid, register: pg_sys::Oid) {
    for guard in guards(table, register) {
        let (quoted, trigger) = (catalog::quoted(table), catalog::quoted_column(&guard));
        warn(
            &sql_error(
                ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
                words!("guard \"{guard}\" of table \"{table}\" is left without its register"),
            )
            .detail("It refuses every row that comes.")
            .hint(words!("DROP TRIGGER {trigger} ON {quoted}")),
        );
    }
}

/// Errors: the caller does not own the relation.
pub fn check_owner(oid: pg_sys::Oid) {
    if !is_owner(oid, current_user()) {
        raise(&sql_error(
            ERRCODE_INSUFFICIENT_PRIVILEGE,
            words!("must be owner of table {oid}"),
        ));
    }
}

/// The persistence of a table, as a statement creates others like it.
///
/// Errors: it is no table; a temporary one, or one of Citus; others inherit from it, or it has partitions.
fn check_table(table: pg_sys::Oid) -> &'static str {
    let fail = |why: &str, hint: &str| -> ! {
        raise(
            &sql_error(
                ERRCODE_WRONG_OBJECT_TYPE,
                words!("cannot make a register of relation \"{table}\""),
            )
            .detail(why.to_owned())
            .hint(hint.to_owned()),
        )
    };
    match catalog::kind(table) {
        pg_sys::RELKIND_RELATION => (),
        pg_sys::RELKIND_PARTITIONED_TABLE => fail(
            "It is partitioned: a partition could be attached with rows that the register has not seen.",
            "Make a register of each partition.",
        ),
        _ => fail(
            "It is not a table.",
            "Make the register of the table that has the records.",
        ),
    }
    check_not_distributed(
        table,
        words!("cannot make a register of relation \"{table}\""),
    );
    let open = OpenRelation::locked_table(table);
    // SAFETY: a look-up in the catalogs.
    if unsafe { pg::ffi::has_subclass(table) } {
        fail(
            "Other tables inherit from it: rows of theirs would not be in the register.",
            "Make a register of each table.",
        );
    }
    if !open.is_heap() {
        fail(
            "Its rows are not kept in a heap.",
            "Take a table of access method heap.",
        );
    }
    match open.form().relpersistence as u8 {
        pg_sys::RELPERSISTENCE_PERMANENT => "",
        pg_sys::RELPERSISTENCE_UNLOGGED => "UNLOGGED ",
        _ => fail(
            "It is temporary.",
            "Make the register of a permanent table.",
        ),
    }
}

/// Errors: Citus keeps the rows of the table (0A000).
pub fn check_not_distributed(table: pg_sys::Oid, cannot: Vec<u8>) {
    if storage::is_distributed(table) {
        let why = "The triggers of a register would run on the nodes of the shards, and its keys are on this one.";
        raise(&storage::distributed(cannot, why).hint(
            "Compare new records by bloom_model_duplicates() with argument \"new\", or make the register of a table that is not distributed.",
        ));
    }
}

/// Errors: the transaction has a snapshot that does not see all rows.
pub fn check_snapshot() {
    // SAFETY: a variable of the server.
    if unsafe { pg_sys::XactIsoLevel } > pg_sys::XACT_READ_COMMITTED as i32 {
        raise(
            &sql_error(
                ERRCODE_ACTIVE_SQL_TRANSACTION,
                "a register cannot be made or checked in a transaction that does not read what is committed meanwhile",
            )
            .detail("Rows that others have committed since its snapshot would be missing.")
            .hint("Make it in a transaction with isolation level READ COMMITTED."),
        );
    }
}

/// Errors: the name is too long, or one of the register's tables would be called as another one is.
fn check_name(schema: &CStr, name: &CStr, is_given: bool) {
    let length = name.to_bytes().len();
    if length <= LONGEST {
        let all = ["", KEYS].map(|suffix| suffixed(name, suffix));
        check_free(schema, &all, "Give the register another name, in argument \"register\", or drop the other one by bloom_register_drop().");
    }
    if length > LONGEST {
        let hint = match is_given {
            true => "Give it a shorter name.",
            false => "Give it a name, in argument \"register\".",
        };
        raise(
            &sql_error(
                ERRCODE_INVALID_NAME,
                words!("the name \"{name}\" is too long for a register"),
            )
            .detail(format!("It has {length} bytes, and may have {LONGEST}."))
            .hint(hint),
        );
    }
}

/// Errors: a relation is called like one of these.
pub fn check_free(schema: &CStr, names: &[CString], hint: &'static str) {
    let mut names = names.iter();
    let taken = names.find(|name| relation_of(schema, name) != pg_sys::InvalidOid);
    if let Some(taken) = taken {
        raise(
            &sql_error(
                ERRCODE_DUPLICATE_TABLE,
                words!("relation \"{taken}\" already exists"),
            )
            .hint(hint),
        );
    }
}

/// Errors: the key's type is not one of the server's, or its values are not unique.
fn check_key(table: pg_sys::Oid, key: &RecordColumn) {
    // SAFETY: a look-up in the catalogs by OID.
    let has_array = unsafe { pg_sys::get_array_type(key.type_oid) } != pg_sys::InvalidOid;
    if !catalog::is_of_server(key.type_oid) || !has_array {
        let of_type = catalog::type_name(key.type_oid);
        raise(
            &sql_error(
                ERRCODE_FEATURE_NOT_SUPPORTED,
                words!("the key \"{key.name}\" of a register cannot be of type {of_type}"),
            )
            .detail("The keys are values of PostgreSQL's own types, and no arrays.")
            .hint("Take a column of such a type as the key."),
        );
    }
    check_stored(table, key.clone());
    check_identity(table, key);
    let open = OpenRelation::locked_table(table);
    rows_by_key(pg_sys::InvalidOid, &open, key).or_raise();
}

/// Errors: the column is computed when it is read, so that a trigger does not see its value.
fn check_stored(table: pg_sys::Oid, column: RecordColumn) {
    let open = OpenRelation::locked_table(table);
    let number = catalog::column(table, &column.name);
    let is_virtual = open
        .columns()
        .any(|c| Some(c.attnum) == number && c.attgenerated as u8 == b'v');
    if is_virtual {
        raise(
            &sql_error(
                ERRCODE_FEATURE_NOT_SUPPORTED,
                words!(
                    "column \"{column.name}\" of table \"{table}\" is a virtual generated column"
                ),
            )
            .hint("Take a stored one."),
        );
    }
}

pub fn suffixed(name: &CStr, suffix: &str) -> CString {
    CString::new([name.to_bytes(), suffix.as_bytes()].concat()).expect("names have no zero bytes")
}

/// The relation of a name that was just made.
pub fn relation_of(schema: &CStr, name: &CStr) -> pg_sys::Oid {
    // SAFETY: look-ups in the catalogs by C strings.
    unsafe {
        let schema = pg_sys::get_namespace_oid(schema.as_ptr(), false);
        pg_sys::get_relname_relid(name.as_ptr(), schema)
    }
}

/// An array of types, as a parameter.
pub fn regtypes(types: &[pg_sys::Oid]) -> Parameter {
    let mut values: Vec<pg_sys::Datum> = types.iter().map(|&oid| oid.into()).collect();
    // SAFETY: as many OIDs as the number says.
    let array = unsafe {
        let (datums, n) = (values.as_mut_ptr(), values.len() as i32);
        let (oid, align) = (pg_sys::REGTYPEOID, b'i' as std::ffi::c_char);
        pg_sys::Datum::from(pg_sys::construct_array(datums, n, oid, 4, true, align))
    };
    (pg_sys::REGTYPEARRAYOID, array)
}

/// An array of integers, as a parameter.
pub fn int4s(values: Vec<i32>) -> Parameter {
    let array = values.into_datum().unwrap_or(pg_sys::Datum::null());
    (pg_sys::INT4ARRAYOID, array)
}

/// Makes the tables of a register, which belong to the owner of its table. Whoever may read all of the table may read
/// the register's row, which has the model.
fn make_tables(
    session: &Session,
    table: pg_sys::Oid,
    (schema, name): (&CStr, &CStr),
    key: &RecordColumn,
    persistence: &str,
) -> pg_sys::Oid {
    let tables = [name.to_owned(), suffixed(name, KEYS)];
    let [row, keys] = tables
        .each_ref()
        .map(|name| Sql::new("").name_in(schema, name));
    let of_type = Sql::new("").exact_type(key.type_oid);
    let collation = Sql::new("").collate(key.collation);
    session.run(
        &sql!(
            "CREATE TABLE {row} (relation pg_catalog.regclass NOT NULL, key pg_catalog.name NOT NULL, \
            model pg_catalog.jsonb NOT NULL, records pg_catalog.int8 NOT NULL, types pg_catalog.regtype[] NOT NULL, \
            keys pg_catalog.regclass NOT NULL, options pg_catalog.jsonb NOT NULL, \
            entities pg_catalog.jsonb NOT NULL DEFAULT '[]', \
            searches pg_catalog.int4[] NOT NULL, filled pg_catalog.int8 NOT NULL DEFAULT 1, \
            made pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now())"
        ),
        &[],
    );
    session.run(
        &sql!("CREATE {persistence}TABLE {keys} (key pg_catalog.int8 NOT NULL, id {of_type}{collation})"),
        &[],
    );
    let oids = tables.each_ref().map(|name| relation_of(schema, name));
    // SAFETY: an open table has its row of pg_class; there is a user of this OID.
    let owner = unsafe {
        let owner = OpenRelation::locked_table(table).form().relowner;
        CStr::from_ptr(pg_sys::GetUserNameFromId(owner, false)).to_owned()
    };
    for oid in oids {
        session.run(&sql!("ALTER TABLE {oid} OWNER TO {owner}"), &[]);
    }
    let [register, keys] = oids;
    grant_reading(session, table, register);
    let about = [
        (register, "register of the records of another table"),
        (
            keys,
            "keys of the records of a register; id is NULL where too many have the key",
        ),
    ];
    for (oid, about) in about {
        session.run(&sql!("COMMENT ON TABLE {oid} IS '{about}'"), &[]);
    }
    register
}

fn make_triggers(
    session: &Session,
    table: pg_sys::Oid,
    register: pg_sys::Oid,
    function: pg_sys::Oid,
) {
    let own = Sql::new("").name_in(
        &catalog::schema_of_function(function),
        c"bloom_register_keep",
    );
    let argument = literal(&catalog::name(register));
    let name = catalog::name(register);
    for (suffix, event, each) in [
        ("_row", "INSERT OR UPDATE OR DELETE", "ROW"),
        ("_truncate", "TRUNCATE", "STATEMENT"),
    ] {
        let trigger = suffixed(&name, suffix);
        session.run(
            &sql!("CREATE TRIGGER {trigger} AFTER {event} ON {table} FOR EACH {each} EXECUTE FUNCTION {own}({argument})"),
            &[],
        );
        session.run(
            &sql!("ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger}"),
            &[],
        );
    }
}

/// Drops the triggers of a table that keep this register, or one that there is no longer.
fn drop_triggers(session: &Session, table: pg_sys::Oid, register: pg_sys::Oid) {
    let names = sql!(
        "SELECT t.tgname FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid \
        WHERE t.tgrelid OPERATOR(pg_catalog.=) $1 AND NOT t.tgisinternal AND t.tgnargs OPERATOR(pg_catalog.=) 1 \
        AND p.prosrc OPERATOR(pg_catalog.=) 'bloom_register_keep_wrapper' AND COALESCE((SELECT r.oid FROM pg_catalog.pg_class AS r, \
        pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) t.tgrelid AND r.relnamespace OPERATOR(pg_catalog.=) c.relnamespace \
        AND r.relname OPERATOR(pg_catalog.=) pg_catalog.convert_from(pg_catalog.substr(t.tgargs, 1, pg_catalog.length(t.tgargs) \
        OPERATOR(pg_catalog.-) 1), pg_catalog.getdatabaseencoding())::pg_catalog.name), $2) OPERATOR(pg_catalog.=) $2"
    );
    let parameters = [table, register].map(|oid| (pg_sys::OIDOID, oid.into()));
    let mut triggers: Vec<CString> = Vec::new();
    session.each(&names, &parameters, |row| {
        triggers.extend(row.name(0).map(CStr::to_owned));
    });
    for trigger in triggers {
        session.run(&sql!("DROP TRIGGER {trigger} ON {table}"), &[]);
    }
}

/// Drops the triggers that name a register whose table is not known.
fn drop_triggers_of_name(session: &Session, register: pg_sys::Oid) {
    let tables = sql!(
        "SELECT DISTINCT t.tgrelid FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid \
        JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.tgrelid WHERE NOT t.tgisinternal \
        AND p.prosrc OPERATOR(pg_catalog.=) 'bloom_register_keep_wrapper' AND c.relnamespace OPERATOR(pg_catalog.=) \
        (SELECT r.relnamespace FROM pg_catalog.pg_class AS r WHERE r.oid OPERATOR(pg_catalog.=) $1)"
    );
    let mut found = Vec::new();
    session.each(&tables, &[(pg_sys::OIDOID, register.into())], |row| {
        found.push(row.oid(0))
    });
    found
        .into_iter()
        .for_each(|table| drop_triggers(session, table, register));
}

/// Makes the triggers of a register anew, called like it. `function` is one of this extension.
pub fn mend_triggers(register: &Register, function: pg_sys::Oid) {
    let session = Session::begin(false);
    drop_triggers(&session, register.relation, register.oid);
    make_triggers(&session, register.relation, register.oid, function);
}

/// Lets those read the register's row who may read all of the table.
pub fn grant_reading(session: &Session, table: pg_sys::Oid, register: pg_sys::Oid) {
    let readers = sql!(
        "SELECT DISTINCT CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(\
        pg_catalog.pg_get_userbyid(a.grantee)) END FROM pg_catalog.pg_class AS c, pg_catalog.aclexplode(c.relacl) AS a \
        WHERE c.oid OPERATOR(pg_catalog.=) $1 AND NOT c.relrowsecurity AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT' \
        AND a.grantee OPERATOR(pg_catalog.<>) c.relowner"
    );
    let mut grantees: Vec<Vec<u8>> = Vec::new();
    session.each(&readers, &[(pg_sys::OIDOID, table.into())], |row| {
        grantees.extend(row.bytes(0).map(|name| name.bytes().to_vec()));
    });
    for grantee in grantees {
        let grantee = Sql::new("").expression(&grantee);
        session.run(&sql!("GRANT SELECT ON {register} TO {grantee}"), &[]);
    }
}

/// Fills the tables of a register, which are empty and have no index on the keys: made at the end, it is made at once. Keys
/// of new records come everywhere: with the room that the server leaves, nearly every page of the index would have to be split
/// within the first tenth of them.
///
/// The index is a unique one so that a restore of data alone, in which the triggers have made the keys already, fails instead
/// of making all of them twice.
fn fill_and_index(session: &Session, register: &Register) {
    fill(session, register);
    let (keys, collation) = (register.keys.oid, register.key.collation);
    let (of_type, _) = catalog::base_type(register.relation, register.key_number);
    let room = sql!("WITH (fillfactor = 75)");
    let statement = match (of_type, collation) {
        // An index keeps names as something else.
        (pg_sys::NAMEOID, _) => sql!("CREATE INDEX ON {keys} (key) INCLUDE (id) {room}"),
        (_, pg_sys::InvalidOid) => sql!("CREATE UNIQUE INDEX ON {keys} (key, id) {room}"),
        // Equal keys have the same bytes, and these are compared soonest.
        _ => sql!("CREATE UNIQUE INDEX ON {keys} (key, id COLLATE pg_catalog.\"C\") {room}"),
    };
    session.run(&statement, &[]);
}

/// Makes all keys anew.
pub fn refill(register: &Register) {
    empty(register);
    let session = Session::begin(false);
    // Older snapshots do not see the new ones, and are to learn that.
    by_owner(register, register.oid, |session| {
        session.run(&filled_statement(register.oid), &[])
    });
    let index = register.keys.index;
    if index != pg_sys::InvalidOid {
        session.run(&sql!("DROP INDEX {index}"), &[]);
    }
    fill_and_index(&session, register);
}
