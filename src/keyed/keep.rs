//! The trigger that keeps a column of keyed signatures.
//!
//! It encodes by the rights of whoever enters a row: anybody with the privilege TRIGGER can make one, with other
//! arguments, so it must lend nobody's rights.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::rc::Rc;

use base::Result;
use pg::catalog::privileges::current_user;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::trigger::{protocol_violated, TriggerCall};
use pg::message::words;
use pg::row::{name_of, Row};
use pg::session::fixed_settings::{FixedSettings, OF_TEXT_FORMS};
use pg::session::{SavedPlan, Session};
use pg::session_state::map_bytes;
use pg::sql::{literal, Sql};
use pg::values::jsonb::JsonObject;
use pg::values::varlena::NewValue;
use pg::{catalog, entry, ffi, sql};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{ERRCODE_DATATYPE_MISMATCH, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE};

use signature::filter::typmod::{enforce, BLOOM};
use signature::filter::Shape;
use types::NewBloom;

use super::encode::encoded;
use super::manage::shown;
use super::ready::{with_encoder, GivenJson, GivenSchema, ReadyEncoder};
use super::tables::SecretTables;

/// `() RETURNS trigger`
///
/// `bloom_clk_keep() RETURNS trigger`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_clk_keep(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which lives until it returns.
    NewValue(unsafe { keep(fcinfo) }.or_raise())
}

/// What a trigger is told: its arguments.
pub struct KeptColumn {
    pub column: CString,
    pub secret: CString,
    /// That of the column's signatures.
    pub id: CString,
    pub schema: CString,
    pub hardening: Option<CString>,
}

impl KeptColumn {
    /// That of a trigger's arguments.
    ///
    /// Errors: they are others than [`super::column`] writes.
    pub fn of(arguments: Vec<CString>) -> Result<KeptColumn> {
        let is_known = (4..=5).contains(&arguments.len());
        let mut arguments = arguments.into_iter();
        let mut next = || arguments.next().filter(|_| is_known);
        match (next(), next(), next(), next()) {
            (Some(column), Some(secret), Some(id), Some(schema)) => Ok(KeptColumn {
                column,
                secret,
                id,
                schema,
                hardening: next(),
            }),
            _ => Err(protocol_violated(
                "function \"bloom_clk_keep\" needs a column, a secret, an id and a linkage schema as its arguments",
            )
            .hint("Such triggers are made by bloom_clk_column().")),
        }
    }

    /// The same, as CREATE TRIGGER is given them.
    pub fn arguments(&self) -> Sql {
        let KeptColumn {
            column,
            secret,
            id,
            schema,
            hardening,
        } = self;
        let all = [column, secret, id, schema].into_iter().chain(hardening);
        Sql::join(all.map(|part| literal(part)), ", ")
    }
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
    let KeptColumn {
        column,
        secret,
        id,
        schema,
        hardening,
    } = &KeptColumn::of(call.args())?;
    let table = call.table();
    let Some(number) = catalog::column(table, column) else {
        return Err(catalog::no_column(table, column)
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
        hardening: hardening.as_deref().map(GivenJson::Text),
        user: current_user(),
    };
    // SAFETY: the slot holds a row of the trigger's table, which is open, as long as the call runs; the function is that of
    // the call, for which nothing but `Row` uses fn_extra.
    let row = unsafe { Row::new(call.tg_relation, slot, call.function) };
    // SAFETY: the caller's.
    let tables = unsafe { SecretTables::of_call(fcinfo) };
    let signature = with_encoder(&tables, secret, &given, |ready| {
        check_id(ready, secret, id);
        // SAFETY: the descriptor is that of the table, which has the column.
        unsafe { check_type((*call.tg_relation).rd_att, number, column, ready.shape) };
        signature_of(ready, &row)
    });
    let (mut number, mut null) = (i32::from(number), signature.is_none());
    let mut value = signature.map_or(pg_sys::Datum::null(), NewBloom::datum);
    // SAFETY: the tuple is one of the table, which has this column.
    let changed = unsafe {
        let columns = (*call.tg_relation).rd_att;
        pg_sys::heap_modify_tuple_by_cols(
            tuple,
            columns,
            1,
            &raw mut number,
            &raw mut value,
            &raw mut null,
        )
    };
    Ok(pg_sys::Datum::from(changed))
}

/// The signature of a row. Of its values those are looked at that are members of the record: another one may be too long for
/// JSON, or have a type whose functions fail.
fn signature_of(ready: &mut ReadyEncoder, row: &Row) -> Option<NewBloom> {
    let is_member = |ready: &ReadyEncoder, name: &CStr| {
        let mut members = ready.names.iter().chain(&ready.salt);
        members.any(|member| member == name.to_bytes())
    };
    // The same row has the same signature, whatever the session's settings are.
    let mut members = row
        .columns()
        .filter(|column| is_member(ready, name_of(column)));
    let fixed = members
        .any(depends_on_settings)
        .then(|| FixedSettings::begin(OF_TEXT_FORMS));
    let plan = plan_of(row);
    let signature = {
        let session = Session::begin(true);
        let whole = row.composite(|name| is_member(ready, name));
        let rows = plan.run(&session, [whole]);
        let record = rows.first().and_then(|row| row.datum(0));
        // SAFETY: a jsonb that lives as long as the session. What this copies of it is gone before that.
        let record = record.and_then(|record| unsafe { JsonObject::new(record) });
        let record = record.expect("a row is an object in JSON");
        session.in_callers_memory(|| encoded(ready, &record))
    };
    if let Some(fixed) = fixed {
        fixed.end();
    }
    signature
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
pub unsafe fn check_type(columns: pg_sys::TupleDesc, number: i16, column: &CStr, shape: Shape) {
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

/// Whether the JSON of a column's values may depend on settings: if they are of other types than these.
fn depends_on_settings(column: &pg_sys::FormData_pg_attribute) -> bool {
    const INDEPENDENT: [pg_sys::Oid; 14] = [
        pg_sys::TEXTOID,
        pg_sys::VARCHAROID,
        pg_sys::BPCHAROID,
        pg_sys::NAMEOID,
        pg_sys::INT2OID,
        pg_sys::INT4OID,
        pg_sys::INT8OID,
        pg_sys::BOOLOID,
        pg_sys::NUMERICOID,
        pg_sys::UUIDOID,
        pg_sys::JSONBOID,
        // In JSON they are as ISO has them.
        pg_sys::DATEOID,
        pg_sys::TIMEOID,
        pg_sys::TIMESTAMPOID,
    ];
    let is_known = INDEPENDENT.contains(&column.atttypid);
    !is_known && !types::objects::is_signature(column.atttypid)
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
