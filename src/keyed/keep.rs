//! `bloom_clk_column`: a column of keyed signatures that a trigger keeps.
//!
//! The trigger encodes by the rights of whoever enters a row: anybody with the privilege TRIGGER can make one, with other
//! arguments, so it must lend nobody's rights.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::rc::Rc;

use base::Result;
use pg::catalog::privileges::current_user;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::trigger::{protocol_violated, TriggerCall};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::row::Row;
use pg::session::{not_during_recovery, SavedPlan, Session};
use pg::session_state::map_bytes;
use pg::sql::{literal, Sql};
use pg::values::jsonb::JsonObject;
use pg::values::text::to_database;
use pg::values::varlena::NewValue;
use pg::{catalog, entry, ffi, sql};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_DATATYPE_MISMATCH, ERRCODE_DUPLICATE_OBJECT, ERRCODE_FEATURE_NOT_SUPPORTED,
    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, ERRCODE_UNDEFINED_COLUMN, ERRCODE_WRONG_OBJECT_TYPE,
};

use signature::filter::typmod::{enforce, BLOOM};
use signature::filter::Shape;
use types::NewBloom;

use super::encode::{encoded, given};
use super::manage::shown;
use super::ready::{with_encoder, GivenJson, GivenSchema, ReadyEncoder};
use super::tables::SecretTables;

/// `(rel regclass, signature name, schema jsonb, secret name) RETURNS name`
///
/// `(rel regclass, signature name, schema jsonb, secret name, hardening jsonb) RETURNS name`
///
/// Adds the column, if it is not there, and a trigger, and has it encode the rows that are there. Gives the trigger's name.
///
/// Errors: a relation that is no table; a feature, or a member of the salt, that is no column of it; there is such a trigger
/// already; the caller may not use the secret; those of ALTER TABLE, CREATE TRIGGER and UPDATE, which the caller does.
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
    let (bits, id, members) = with_encoder(&tables, &secret, &given.of(), |ready| {
        let members = ready.names.iter().chain(&ready.salt);
        let members = members.filter(|name| !name.is_empty()).cloned();
        (
            ready.shape.m(),
            ready.encoder.id(),
            members.collect::<Vec<_>>(),
        )
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
                &sql_error(
                    ERRCODE_UNDEFINED_COLUMN,
                    words!("column \"{name}\" of table \"{table}\" does not exist"),
                )
                .detail("The linkage schema, or the hardening, names it."),
            );
        }
    }
    let trigger = trigger_name(table, &column);
    let session = Session::begin(false);
    if catalog::column(table, &column).is_none() {
        let bloom = Sql::new("").name_in(&catalog::schema_of_function(function), c"bloom");
        let bits = Sql::new(&bits.to_string());
        session.run(
            &sql!("ALTER TABLE {table} ADD COLUMN {column} {bloom}(clk, {bits})"),
            &[],
        );
    }
    let text = |json: &JsonObject<'_>| CString::new(to_database(&json.text())).unwrap_or_default();
    let id = CString::new(shown(id)).unwrap_or_default();
    let mut parts = vec![column.clone(), secret, id, text(&given.schema)];
    parts.extend(given.hardening.as_ref().map(text));
    let parts = Sql::join(parts.iter().map(|part| literal(part)), ", ");
    let own = Sql::new("").name_in(&catalog::schema_of_function(function), c"bloom_clk_keep");
    session.run(
        &sql!("CREATE TRIGGER {trigger} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {own}({parts})"),
        &[],
    );
    // The trigger does the rest.
    session.run(&sql!("UPDATE {table} SET {column} = {column}"), &[]);
    drop(session);
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
}

/// Whether a column is generated when it is read.
fn is_virtual(table: pg_sys::Oid, number: i16) -> bool {
    let table = OpenRelation::table(table, pg_sys::AccessShareLock);
    let mut columns = table.columns();
    columns.any(|column| column.attnum == number && column.attgenerated as u8 == b'v')
}

/// The name of the trigger of a column.
///
/// Errors: there is one.
fn trigger_name(table: pg_sys::Oid, column: &CStr) -> CString {
    let of_table = catalog::name(table);
    // SAFETY: the functions take C strings, one gives a new one, and the other looks into the catalog.
    let (name, is_there) = unsafe {
        let name = pg_sys::makeObjectName(of_table.as_ptr(), column.as_ptr(), c"clk".as_ptr());
        let is_there = pg_sys::get_trigger_oid(table, name, true) != pg_sys::InvalidOid;
        (CStr::from_ptr(name).to_owned(), is_there)
    };
    if is_there {
        raise(
            &sql_error(
                ERRCODE_DUPLICATE_OBJECT,
                words!("trigger \"{name}\" for table \"{table}\" already exists"),
            )
            .hint("Drop it, and then make it anew: DROP TRIGGER."),
        );
    }
    name
}

/// Whether a trigger of `bloom_clk_column` keeps a column.
pub fn is_kept_column(table: &OpenRelation, column: &CStr) -> bool {
    table.triggers().iter().any(|trigger| {
        // SAFETY: as many arguments as it says, each a C string.
        let is_of_column =
            trigger.tgnargs > 0 && unsafe { CStr::from_ptr(*trigger.tgargs) } == column;
        is_of_column && catalog::is_of_library(trigger.tgfoid, c"bloom_clk_keep_wrapper")
    })
}

/// `() RETURNS trigger`
///
/// `bloom_clk_keep() RETURNS trigger`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_clk_keep(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which lives until it returns.
    NewValue(unsafe { keep(fcinfo) }.or_raise())
}

/// Gives the row with its signature.
///
/// # Safety
/// `fcinfo` is that of the running call.
unsafe fn keep(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: the server's call runs until this function returns, so `call` does not outlive it.
    let call = unsafe { TriggerCall::new(fcinfo, "bloom_clk_keep")? };
    let events = [pg_sys::TRIGGER_EVENT_INSERT, pg_sys::TRIGGER_EVENT_UPDATE];
    let is_before = call.timing() == pg_sys::TRIGGER_EVENT_BEFORE;
    if !is_before || !call.is_for_rows() || !events.contains(&call.event()) {
        return Err(protocol_violated(
            "function \"bloom_clk_keep\" must be fired BEFORE INSERT or UPDATE, for each row",
        )
        .hint("Such triggers are made by bloom_clk_column()."));
    }
    let args = call.args();
    let (column, secret, id, schema, hardening) = match &args[..] {
        [column, secret, id, schema] => (column, secret, id, schema, None),
        [column, secret, id, schema, hardening] => (column, secret, id, schema, Some(hardening)),
        _ => {
            return Err(protocol_violated(
                "function \"bloom_clk_keep\" needs a column, a secret, an id and a linkage schema as its arguments",
            )
            .hint("Such triggers are made by bloom_clk_column()."))
        }
    };
    let table = call.table();
    let Some(number) = catalog::column(table, column) else {
        return Err(sql_error(
            ERRCODE_UNDEFINED_COLUMN,
            words!("column \"{column}\" of table \"{table}\" does not exist"),
        )
        .detail(words!(
            "It is named in the arguments of trigger \"{call.trigger_name()}\"."
        ))
        .hint("If the column was renamed or dropped, drop the trigger, and create it again."));
    };
    let (slot, tuple) = match call.is_update() {
        true => (call.tg_newslot, call.tg_newtuple),
        false => (call.tg_trigslot, call.tg_trigtuple),
    };
    let given = GivenSchema {
        schema: GivenJson::Text(schema),
        hardening: hardening.map(|hardening| GivenJson::Text(hardening)),
        user: current_user(),
    };
    // SAFETY: the slot holds a row of the trigger's table, which is open, as long as the call runs; the function is that of
    // the call, for which nothing but `Row` uses fn_extra.
    let row = unsafe { Row::new(call.tg_relation, slot, call.function) };
    // SAFETY: the caller's.
    let tables = unsafe { SecretTables::of_call(fcinfo) };
    let plan = plan_of(&row);
    let signature = {
        let session = Session::begin(true);
        let rows = plan.run(&session, [row.composite()]);
        let record = rows.first().and_then(|row| row.datum(0));
        // SAFETY: a jsonb that lives as long as the session. What this copies of it is gone before that.
        let record = record.and_then(|record| unsafe { JsonObject::new(record) });
        let record = record.expect("a row is an object in JSON");
        session.in_callers_memory(|| {
            with_encoder(&tables, secret, &given, |ready| {
                check_id(ready, secret, id);
                // SAFETY: the descriptor is that of the table, which has the column.
                unsafe { check_type((*call.tg_relation).rd_att, number, column, ready.shape) };
                encoded(ready, &record)
            })
        })
    };
    let (mut number, mut null) = (i32::from(number), signature.is_none());
    let mut value = signature.map_or(pg_sys::Datum::null(), NewBloom::datum);
    // SAFETY: the tuple is one of the table, which has this column.
    let changed = unsafe {
        let columns = (*call.tg_relation).rd_att;
        pg_sys::heap_modify_tuple_by_cols(tuple, columns, 1, &mut number, &mut value, &mut null)
    };
    Ok(pg_sys::Datum::from(changed))
}

/// Errors: the secret, or the schema, is another one than that which the trigger was made for.
fn check_id(ready: &ReadyEncoder, secret: &CStr, expected: &CStr) {
    let id = shown(ready.encoder.id());
    if id.as_bytes() != expected.to_bytes() {
        raise(
            &sql_error(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                words!("secret \"{secret}\" is another one than that of the column"),
            )
            .detail(words!("Signatures would have id {id}, and those of the column have {expected}."))
            .hint("Bring the secret here, or drop the trigger and make another column by bloom_clk_column()."),
        );
    }
}

/// Errors: the column is of another type, or holds signatures of another length.
///
/// # Safety
/// The descriptor is that of a table, which has the column.
unsafe fn check_type(columns: pg_sys::TupleDesc, number: i16, column: &CStr, shape: Shape) {
    // SAFETY: the caller's.
    let attribute = unsafe { &*ffi::attribute(columns, i32::from(number) - 1) };
    let of_type = attribute.atttypid;
    if !types::objects::is_signature(of_type) || types::objects::is_bits(of_type) {
        raise(&sql_error(
            ERRCODE_DATATYPE_MISMATCH,
            words!("column \"{column}\" is not of type bloom"),
        ));
    }
    enforce(&BLOOM, attribute.atttypmod, shape).or_raise();
}

pg::session_state! {
    /// Rows are made JSON of by a plan for each table.
    static PLANS: RefCell<HashMap<pg_sys::Oid, Rc<SavedPlan<1>>>> = RefCell::default();
    "plans that make JSON of rows" by "type of the rows" until "the session ends"
        bytes |plans| map_bytes(&plans.borrow());
}

/// The plan that makes JSON of such a row.
fn plan_of(row: &Row) -> Rc<SavedPlan<1>> {
    // SAFETY: a row's table is open, and has a row of pg_class.
    let of_type = unsafe { (*(*row.table).rd_rel).reltype };
    PLANS.with_borrow_mut(|plans| {
        let new = || {
            let statement = sql!("SELECT pg_catalog.to_jsonb($1)");
            Rc::new(SavedPlan::new(statement, [of_type]))
        };
        Rc::clone(plans.entry(of_type).or_insert_with(new))
    })
}
