//! `bloom_clk_column` and its like: columns of keyed signatures, which a trigger keeps, are made, filled in batches, and put
//! in the place of others. All of it is done by the caller.

use std::ffi::{CStr, CString};

use pg::error::{raise, sql_error, tell, warn, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::trigger;
use pg::message::words;
use pg::relation::{self, OpenRelation};
use pg::session::{not_during_recovery, Session};
use pg::sql::{literal, Sql};
use pg::values::jsonb::JsonObject;
use pg::values::text::to_database;
use pg::values::varlena::NewValue;
use pg::{catalog, entry, sql};
use pgrx::PgSqlErrorCode::{
    ERRCODE_ACTIVE_SQL_TRANSACTION, ERRCODE_DUPLICATE_OBJECT, ERRCODE_FEATURE_NOT_SUPPORTED,
    ERRCODE_INVALID_PARAMETER_VALUE, ERRCODE_NULL_VALUE_NOT_ALLOWED,
    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, ERRCODE_UNDEFINED_OBJECT, ERRCODE_UNDEFINED_TABLE,
    ERRCODE_WARNING, ERRCODE_WRONG_OBJECT_TYPE,
};
use pgrx::{pg_sys, PgLogLevel};

use super::encode::given;
use super::keep::{check_type, KeptColumn};
use super::manage::shown;
use super::ready::with_encoder;
use super::tables::{NameValue, SecretTables};
use pg::session::fixed_settings::without_row_security;
use signature::filter::typmod;

/// `(rel regclass, signature name, schema jsonb, secret name, hardening jsonb, fill boolean) RETURNS name`
///
/// Adds the column, if it is not there, and a trigger, and with `fill` has it encode the rows that are there. Gives the
/// trigger's name.
///
/// Errors: a relation that is no table; a feature, or a member of the salt, that is no column of it; there is such a trigger
/// already; a column of another type; the caller may not use the secret; those of ALTER TABLE, CREATE TRIGGER and UPDATE.
#[entry(volatile, parallel_unsafe)]
fn bloom_clk_column(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_clk_column()");
    // SAFETY: the record of a running call, which is declared with these arguments, and STRICT; they live as long as it.
    let (tables, arguments, given, function) = unsafe {
        let arguments = Arguments::new(fcinfo);
        let given = given(arguments, [2, 4]);
        let function = (*(*fcinfo).flinfo).fn_oid;
        (SecretTables::of_call(fcinfo), arguments, given, function)
    };
    let (table, column, secret) = (arguments.oid(0), arguments.name(1), arguments.name(3));
    check_table(table);
    let (shape, members) = with_encoder(&tables, &secret, &given.of(), |ready| {
        let members = ready.names.iter().chain(&ready.salt);
        let members = members.filter(|name| !name.is_empty()).cloned();
        (ready.shape, members.collect::<Vec<_>>())
    });
    for name in members {
        let name = CString::new(name).unwrap_or_default();
        let number = catalog::column(table, &name);
        if number.is_some_and(|number| is_virtual(table, number)) {
            raise(
                &sql_error(
                    ERRCODE_FEATURE_NOT_SUPPORTED,
                    words!("column \"{name}\" of table \"{table}\" is a virtual generated column"),
                )
                .detail("A trigger does not see its value."),
            );
        }
        if number.is_none() {
            raise(
                &catalog::no_column(table, &name)
                    .detail("The linkage schema, or the hardening, names it."),
            );
        }
    }
    let trigger = trigger_name(table, &column);
    let session = Session::begin(false);
    match catalog::column(table, &column) {
        None => {
            let bloom = Sql::new("").name_in(&catalog::schema_of_function(function), c"bloom");
            let declared = Sql::new(&typmod::declaration(shape));
            session.run(
                &sql!("ALTER TABLE {table} ADD COLUMN {column} {bloom}{declared}"),
                &[],
            );
        }
        Some(number) => {
            let open = OpenRelation::table(table, pg_sys::AccessShareLock);
            // SAFETY: the descriptor of a table that has the column.
            unsafe { check_type(open.rd_att, number, &column, shape) };
        }
    }
    let text = |json: &JsonObject<'_>| CString::new(to_database(&json.text())).unwrap_or_default();
    let kept = KeptColumn {
        column,
        secret,
        id: CString::new(shown(shape.id())).unwrap_or_default(),
        schema: text(&given.schema),
        // An empty one is none.
        hardening: given
            .hardening
            .as_ref()
            .map(text)
            .filter(|hardening| hardening.as_c_str() != c"{}"),
    };
    create_trigger(&session, table, &trigger, &kept, function);
    if arguments.boolean(5) {
        // The trigger does the rest.
        let column = &kept.column;
        let update = || session.run(&sql!("UPDATE {table} SET {column} = {column}"), &[]);
        without_row_security(update);
    }
    drop(session);
    warn_of_later(table, &trigger);
    // SAFETY: there is room for a name, of which the server copies as much as fits.
    unsafe {
        let room: pg_sys::Name = pg_sys::palloc0(size_of::<pg_sys::NameData>()).cast();
        pg_sys::namestrcpy(room, trigger.as_ptr());
        NewValue(pg_sys::Datum::from(room))
    }
}

/// Errors: it is no table that can have such a trigger.
fn check_table(table: pg_sys::Oid) {
    catalog::check_exists(table).or_raise();
    let kinds = [pg_sys::RELKIND_RELATION, pg_sys::RELKIND_PARTITIONED_TABLE];
    if !kinds.contains(&catalog::kind(table)) {
        raise(&sql_error(
            ERRCODE_WRONG_OBJECT_TYPE,
            words!("relation \"{table}\" is no table"),
        ));
    }
    relation::lock(table, pg_sys::AccessShareLock);
    // SAFETY: the table is locked, and was looked up.
    let parts = unsafe { relation::with_inheritors(table, pg_sys::AccessShareLock) };
    if catalog::kind(table) == pg_sys::RELKIND_RELATION && parts.len() > 1 {
        raise(
            &sql_error(
                ERRCODE_FEATURE_NOT_SUPPORTED,
                words!("other tables inherit from table \"{table}\""),
            )
            .detail("A trigger is not inherited, so their rows would have no signatures.")
            .hint("Make partitions of them."),
        );
    }
}

/// Whether a column is generated when it is read.
fn is_virtual(table: pg_sys::Oid, number: i16) -> bool {
    let table = OpenRelation::table(table, pg_sys::AccessShareLock);
    let mut columns = table.columns();
    columns.any(|column| column.attnum == number && column.attgenerated as u8 == b'v')
}

/// The name of a new trigger of a column. Long names are cut, so that of another column may be taken.
///
/// Errors: a trigger keeps the column already.
fn trigger_name(table: pg_sys::Oid, column: &CStr) -> CString {
    if let Some(Keeper { name, .. }) = find_keeper(table, column) {
        raise(
            &sql_error(
                ERRCODE_DUPLICATE_OBJECT,
                words!("trigger \"{name}\" for table \"{table}\" already exists"),
            )
            .hint("Drop it, and then make it anew: DROP TRIGGER."),
        );
    }
    let of_table = catalog::name(table);
    let mut endings = std::iter::once("clk".to_owned()).chain((1..).map(|n| format!("clk{n}")));
    loop {
        let ending = endings.next().and_then(|ending| CString::new(ending).ok());
        let ending = ending.unwrap_or_default();
        // SAFETY: the functions take C strings, one gives a new one, and the other looks into the catalog.
        unsafe {
            let (of_table, column) = (of_table.as_ptr(), column.as_ptr());
            let name = pg_sys::makeObjectName(of_table, column, ending.as_ptr());
            if pg_sys::get_trigger_oid(table, name, true) == pg_sys::InvalidOid {
                return CStr::from_ptr(name).to_owned();
            }
        }
    }
}

/// Has a trigger keep a column, by the function beside another one.
fn create_trigger(
    session: &Session,
    table: pg_sys::Oid,
    trigger: &CStr,
    kept: &KeptColumn,
    beside: pg_sys::Oid,
) {
    let arguments = kept.arguments();
    let own = Sql::new("").name_in(&catalog::schema_of_function(beside), c"bloom_clk_keep");
    session.run(
        &sql!("CREATE TRIGGER {trigger} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {own}({arguments})"),
        &[],
    );
}

/// Says which triggers change a row when it is encoded already.
fn warn_of_later(table: pg_sys::Oid, trigger: &CStr) {
    let open = OpenRelation::table(table, pg_sys::AccessShareLock);
    let before = (pg_sys::TRIGGER_TYPE_ROW | pg_sys::TRIGGER_TYPE_BEFORE) as i16;
    let changes = (pg_sys::TRIGGER_TYPE_INSERT | pg_sys::TRIGGER_TYPE_UPDATE) as i16;
    for other in open.triggers().iter() {
        // SAFETY: a trigger has a name, which is a C string.
        let name = unsafe { CStr::from_ptr(other.tgname) };
        let is_later = other.tgtype & before == before && other.tgtype & changes != 0;
        if is_later && name > trigger && !is_keeper(other) {
            warn(
                &sql_error(ERRCODE_WARNING, words!("trigger \"{name}\" fires after trigger \"{trigger}\""))
                    .detail("What it changes in a row is not in the signature.")
                    .hint(words!("Give it a name that comes before: ALTER TRIGGER \"{name}\" ON {table} RENAME TO ... .")),
            );
        }
    }
}

/// Whether a trigger keeps a column.
pub fn is_kept_column(table: &OpenRelation, column: &CStr) -> bool {
    table.triggers().iter().any(|trigger| {
        // SAFETY: as many arguments as it says, each a C string.
        let is_of_column =
            trigger.tgnargs > 0 && unsafe { CStr::from_ptr(*trigger.tgargs) } == column;
        is_of_column && is_keeper(trigger)
    })
}

fn is_keeper(trigger: &pg_sys::Trigger) -> bool {
    catalog::is_of_library(trigger.tgfoid, c"bloom_clk_keep_wrapper")
}

/// The trigger that keeps a column.
struct Keeper {
    name: CString,
    kept: KeptColumn,
    /// When it fires, as pg_trigger has it.
    enabled: u8,
}

impl Keeper {
    /// Errors: it does not fire, as things are.
    fn check_fires(&self, table: pg_sys::Oid) {
        // SAFETY: a variable of the session.
        let is_replica = unsafe { pg_sys::SessionReplicationRole }
            == pg_sys::SESSION_REPLICATION_ROLE_REPLICA as i32;
        let fires = match self.enabled {
            b'A' => true,
            b'R' => is_replica,
            b'O' => !is_replica,
            _ => false,
        };
        if !fires {
            let name = &self.name;
            raise(
                &sql_error(
                    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    words!("trigger \"{name}\" of table \"{table}\" does not fire"),
                )
                .detail("It is disabled, or session_replication_role is \"replica\".")
                .hint(words!("ALTER TABLE {table} ENABLE TRIGGER \"{name}\".")),
            );
        }
    }

    /// How ALTER TABLE has another trigger fire when this one does; `None` for one that is as it was made.
    fn firing(&self) -> Option<&'static str> {
        match self.enabled {
            b'A' => Some("ENABLE ALWAYS"),
            b'R' => Some("ENABLE REPLICA"),
            b'D' => Some("DISABLE"),
            _ => None,
        }
    }
}

/// The trigger that keeps a column, by name, and what it is told.
///
/// Errors: there is none.
fn keeper(table: pg_sys::Oid, column: &CStr) -> Keeper {
    find_keeper(table, column).unwrap_or_else(|| {
        raise(
            &sql_error(
                ERRCODE_UNDEFINED_OBJECT,
                words!("no trigger keeps column \"{column}\" of table \"{table}\""),
            )
            .hint("Make one by bloom_clk_column()."),
        )
    })
}

/// The same, if there is one.
fn find_keeper(table: pg_sys::Oid, column: &CStr) -> Option<Keeper> {
    let open = OpenRelation::table(table, pg_sys::AccessShareLock);
    let triggers = open.triggers();
    let mut found = triggers.iter().filter(|trigger| is_keeper(trigger));
    found.find_map(|trigger| {
        let kept = KeptColumn::of(trigger::arguments(trigger)).ok()?;
        // SAFETY: a trigger has a name, which is a C string.
        let name = unsafe { CStr::from_ptr(trigger.tgname) }.to_owned();
        (kept.column.as_c_str() == column).then_some(Keeper {
            name,
            kept,
            enabled: trigger.tgenabled as u8,
        })
    })
}

/// `(rel regclass, signature name, pages integer) RETURNS void`
///
/// A procedure, which has the trigger of a column encode the rows that have no signature of its id, so many pages of the table at a time, each
/// in a transaction of its own.
///
/// Errors: no trigger keeps the column; it is called where it cannot commit; those of UPDATE.
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_clk_fill(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_clk_fill()");
    // SAFETY: the record of a running call, which is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    if (0..3).any(|i| arguments.datum(i).is_none()) {
        raise(&sql_error(
            ERRCODE_NULL_VALUE_NOT_ALLOWED,
            "an argument of bloom_clk_fill() is null",
        ));
    }
    let (table, column) = (arguments.oid(0), arguments.name(1));
    let pages = arguments.given(2).value() as i32;
    if pages < 1 {
        raise(
            &sql_error(
                ERRCODE_INVALID_PARAMETER_VALUE,
                format!("pages = {pages} is out of range"),
            )
            .detail("It is 1 at least: the pages of the table that one transaction encodes."),
        );
    }
    // SAFETY: the record of a running call; what a procedure is called with is a node of this type.
    if !unsafe { may_commit(fcinfo) } {
        raise(
            &sql_error(
                ERRCODE_ACTIVE_SQL_TRANSACTION,
                "bloom_clk_fill() cannot run inside a transaction block",
            )
            .detail("It commits what it has encoded.")
            .hint(
                "Call it by itself; in one transaction, UPDATE the rows: the trigger encodes them.",
            ),
        );
    }
    check_table(table);
    keeper(table, &column).check_fires(table);
    let (all, name) = (last_page(table), catalog::name(table));
    let session = Session::begin_nonatomic();
    let (mut first, mut filled) = (0, 0);
    while first < all {
        // What another session has done to the table between two transactions is seen, and no more is done until this one ends.
        relation::lock(table, pg_sys::AccessShareLock);
        if catalog::check_exists(table).is_err() {
            raise(&sql_error(
                ERRCODE_UNDEFINED_TABLE,
                words!("table \"{name}\" does not exist any more"),
            ));
        }
        let keeper = keeper(table, &column);
        keeper.check_fires(table);
        if catalog::column(table, &column).is_none() {
            raise(&catalog::no_column(table, &column));
        }
        let (id, end) = (&keeper.kept.id, first.saturating_add(pages as u32).min(all));
        let range = Sql::new(&format!(
            "ctid OPERATOR(pg_catalog.>=) '({first},0)'::pg_catalog.tid AND ctid OPERATOR(pg_catalog.<) '({end},0)'::pg_catalog.tid"
        ));
        let (own, id) = (own_function(fcinfo, c"bloom_id"), literal(id));
        let update = || {
            session.run(
            &sql!("UPDATE {table} SET {column} = {column} WHERE {range} AND NOT COALESCE({own}({column}) OPERATOR(pg_catalog.=) {id}, false)"),
            &[],
        )
        };
        // Rows that policies hide would stay as they are, so that is an error.
        filled += without_row_security(update);
        session.commit();
        first = end;
    }
    drop(session);
    let filled = filled.to_string();
    tell(
        PgLogLevel::NOTICE,
        words!("{filled} rows of table \"{name}\" are encoded"),
    );
    NewValue(pg_sys::Datum::null())
}

/// Whether a procedure may commit.
///
/// # Safety
/// `fcinfo` is that of a running call of a procedure.
unsafe fn may_commit(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: the caller's. The context is NULL or a node.
    unsafe {
        let context: *mut pg_sys::CallContext = (*fcinfo).context.cast();
        !context.is_null()
            && (*context).type_ == pg_sys::NodeTag::T_CallContext
            && !(*context).atomic
    }
}

/// As many pages as the largest part of a table has.
///
/// Errors: a part is elsewhere.
fn last_page(table: pg_sys::Oid) -> pg_sys::BlockNumber {
    relation::lock(table, pg_sys::AccessShareLock);
    // SAFETY: the table is locked, and was looked up.
    let parts = unsafe { relation::with_inheritors(table, pg_sys::AccessShareLock) };
    let pages = parts
        .into_iter()
        .filter_map(|part| match catalog::kind(part) {
            pg_sys::RELKIND_RELATION => Some(OpenRelation::locked_table(part).blocks()),
            pg_sys::RELKIND_FOREIGN_TABLE => raise(
                &sql_error(
                    ERRCODE_FEATURE_NOT_SUPPORTED,
                    words!("partition \"{part}\" is a foreign table"),
                )
                .hint("UPDATE its rows: the trigger encodes them."),
            ),
            _ => None,
        });
    pages.max().unwrap_or(0)
}

/// `(rel regclass, signature name, replacement name) RETURNS void`
///
/// Drops a column of keyed signatures with its trigger, and gives its name to another one, which a trigger keeps.
///
/// Errors: a trigger keeps neither, or only one of both; rows that the other one has no signature for; those of ALTER TABLE
/// and of triggers.
#[entry(volatile, parallel_unsafe)]
fn bloom_clk_replace(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_clk_replace()");
    // SAFETY: the record of a running call, which is declared with these arguments, and STRICT.
    let (arguments, function) = unsafe { (Arguments::new(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    let (table, old, new) = (arguments.oid(0), arguments.name(1), arguments.name(2));
    check_table(table);
    let session = Session::begin(false);
    // Nothing is to come between the check and the rest.
    session.run(&sql!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"), &[]);
    if old == new {
        raise(&sql_error(
            ERRCODE_INVALID_PARAMETER_VALUE,
            words!("column \"{old}\" cannot replace itself"),
        ));
    }
    let replaced = keeper(table, &old);
    let old_trigger = replaced.name;
    let replacement = keeper(table, &new);
    warn_of_difference(&replaced.kept, &replacement.kept);
    let (new_trigger, kept) = (&replacement.name, &replacement.kept);
    let (own, id) = (own_function(fcinfo, c"bloom_id"), literal(&kept.id));
    // With a salt a row may have none, which is for the encoder to say.
    let missing = match &kept.hardening {
        Some(hardening) => {
            let encode = own_function(fcinfo, c"bloom_clk");
            let (schema, secret) = (literal(&kept.schema), literal(&kept.secret));
            let hardening = literal(hardening);
            sql!(
                "NOT ({new} IS NULL AND {encode}(pg_catalog.to_jsonb(t.*), {schema}::pg_catalog.jsonb, \
                {secret}::pg_catalog.name, {hardening}::pg_catalog.jsonb) IS NULL) AND "
            )
        }
        None => Sql::new(""),
    };
    let count = || {
        session.number(
            &sql!(
                "SELECT pg_catalog.count(*) FROM {table} AS t \
                WHERE {missing}NOT COALESCE({own}({new}) OPERATOR(pg_catalog.=) {id}, false)"
            ),
            &[],
        )
    };
    // Policies could hide rows, so that is an error.
    let left = without_row_security(count);
    if left > 0 {
        let left = left.to_string();
        raise(
            &sql_error(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                words!(
                    "{left} rows of table \"{table}\" have no signature in column \"{new}\" yet"
                ),
            )
            .hint("Encode them by CALL bloom_clk_fill()."),
        );
    }
    let grants = grants(&session, table, &old);
    for statement in [
        sql!("DROP TRIGGER {old_trigger} ON {table}"),
        sql!("DROP TRIGGER {new_trigger} ON {table}"),
        sql!("ALTER TABLE {table} DROP COLUMN {old}"),
        sql!("ALTER TABLE {table} RENAME COLUMN {new} TO {old}"),
    ]
    .into_iter()
    .chain(grants)
    {
        session.run(&statement, &[]);
    }
    let firing = replacement.firing().map(Sql::new);
    let kept = KeptColumn {
        column: old,
        ..replacement.kept
    };
    create_trigger(&session, table, &old_trigger, &kept, function);
    if let Some(firing) = firing {
        session.run(
            &sql!("ALTER TABLE {table} {firing} TRIGGER {old_trigger}"),
            &[],
        );
    }
    drop(session);
    warn_of_later(table, &old_trigger);
    NewValue(pg_sys::Datum::null())
}

/// The statements that give the rights to one column of a table to another one of its name, when it is gone.
fn grants(session: &Session, table: pg_sys::Oid, column: &CStr) -> Vec<Sql> {
    let rights = sql!(
        "SELECT a.privilege_type, CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(\
        pg_catalog.pg_get_userbyid(a.grantee)) END, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END \
        FROM pg_catalog.pg_attribute AS c, pg_catalog.aclexplode(c.attacl) AS a \
        WHERE c.attrelid OPERATOR(pg_catalog.=) $1 AND c.attname OPERATOR(pg_catalog.=) $2 AND NOT c.attisdropped"
    );
    let name = NameValue::new(&column.to_owned());
    let of_column = [
        (pg_sys::OIDOID, table.into()),
        (pg_sys::NAMEOID, name.datum()),
    ];
    let mut statements = Vec::new();
    session.each(&rights, &of_column, |row| {
        let part = |n: usize| {
            let bytes = row.bytes(n).map(|bytes| bytes.bytes().to_vec());
            Sql::new("").expression(&bytes.unwrap_or_default())
        };
        let (right, role, option) = (part(0), part(1), part(2));
        statements.push(sql!(
            "GRANT {right} ({column}) ON {table} TO {role}{option}"
        ));
    });
    statements
}

/// Who rotates a secret means the same schema and the same hardening mostly: without its salt a column tells more than before.
fn warn_of_difference(old: &KeptColumn, new: &KeptColumn) {
    for (what, are_other) in [
        ("linkage schema", old.schema != new.schema),
        ("hardening", old.hardening != new.hardening),
    ] {
        if are_other {
            let (old, new) = (&old.column, &new.column);
            warn(
                &sql_error(
                    ERRCODE_WARNING,
                    words!("column \"{new}\" has another {what} than column \"{old}\", which it replaces"),
                )
                .detail("Thresholds, and what the signatures tell, are others."),
            );
        }
    }
}

/// A function of the schema of the running call.
fn own_function(fcinfo: pg_sys::FunctionCallInfo, name: &CStr) -> Sql {
    // SAFETY: the record of a running call.
    let function = unsafe { (*(*fcinfo).flinfo).fn_oid };
    Sql::new("").name_in(&catalog::schema_of_function(function), name)
}
