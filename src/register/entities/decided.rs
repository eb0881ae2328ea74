//! The trigger function `bloom_entities_decide`: what becomes of entities when people decide about pairs.

use base::Result;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_FEATURE_NOT_SUPPORTED, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
};

use super::super::stored::Register;
use super::super::trigger::named_beside;
use super::turn::{await_records, join};
use pg::catalog;
use pg::entry;
use pg::error::{sql_error, OrRaise};
use pg::function::trigger::{protocol_violated, TriggerCall};
use pg::message::words;
use pg::row::Row;
use pg::values::varlena::{NewValue, Varlena};

/// `() RETURNS trigger`
///
/// `bloom_entities_decide() RETURNS trigger`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_entities_decide(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which lives until it returns.
    unsafe { run(fcinfo) }.or_raise();
    NewValue(pg_sys::Datum::null())
}

/// # Safety
/// `fcinfo` is that of the running call.
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<()> {
    // SAFETY: the server's call runs until this function returns, so `call` does not outlive it.
    let call = unsafe { TriggerCall::new(fcinfo, "bloom_entities_decide")? };
    let args = call.args();
    let (true, [name]) = (call.timing() == pg_sys::TRIGGER_EVENT_AFTER, &args[..]) else {
        return Err(protocol_violated(
            "function \"bloom_entities_decide\" must be fired AFTER the event, with the name of a register",
        )
        .hint("Such triggers are made by bloom_entities_create()."));
    };
    let is_truncate = call.event() == pg_sys::TRIGGER_EVENT_TRUNCATE;
    if !is_truncate && !call.is_for_rows() {
        return Err(protocol_violated(
            "function \"bloom_entities_decide\" must be fired for each row",
        )
        .hint("Such triggers are made by bloom_entities_create()."));
    }
    if is_truncate {
        let table = call.table();
        return Err(sql_error(
            ERRCODE_FEATURE_NOT_SUPPORTED,
            words!("cannot truncate table \"{table}\", since entities depend on its decisions"),
        )
        .hint("Use DELETE, or drop the entities by bloom_entities_drop()."));
    }
    let register = Register::newest(named_beside(&call, name)?).locked();
    let of_table = |of: &&super::EntityTable| {
        let decisions = of.decisions.as_ref();
        decisions.is_some_and(|decisions| decisions.table == call.table())
    };
    let entities = register.entities()?;
    if !entities.iter().any(|of| of_table(&of)) {
        let (trigger, table) = (call.trigger_name(), call.table());
        return Err(sql_error(
            ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            words!("table \"{table}\" of trigger \"{trigger}\" has no decisions about entities of register \"{name}\""),
        )
        .hint("Drop the trigger."));
    }
    // A table of decisions has texts there, as was checked when the entities were opened.
    let columns = [c"a", c"b"].map(|name| catalog::column(call.table(), name).unwrap_or_default());
    let mut seeds = Vec::new();
    let slots = match call.event() {
        pg_sys::TRIGGER_EVENT_UPDATE => vec![call.tg_trigslot, call.tg_newslot],
        _ => vec![call.tg_trigslot],
    };
    for slot in slots {
        // SAFETY: the slot holds a row of the trigger's table, which is open, as long as the call runs.
        let row = unsafe { Row::new(call.tg_relation, slot, std::ptr::null_mut()) };
        let keys = columns.iter().filter_map(|&column| row.get(column));
        // SAFETY: a text, which a table of decisions has there.
        let ids = keys.filter_map(|key| register.id_of_text(unsafe { Varlena::new(key) }.bytes()));
        seeds.extend(ids);
    }
    if seeds.is_empty() {
        return Ok(());
    }
    // The decision is to be seen.
    // SAFETY: a trigger may begin another command.
    unsafe { pg_sys::CommandCounterIncrement() };
    join(&register);
    await_records(&register, &seeds)?;
    let cause = seeds[0];
    for entities in entities.iter().filter(of_table) {
        register.settle(entities, &seeds, cause)?;
    }
    Ok(())
}
