//! The trigger function `bloom_register_keep`: keeps the keys of the rows of a register's table.
//!
//! It fires for each row, since the workers of logical replication fire no triggers for statements. What the register
//! has is written without the executor, so that whoever writes to the table needs no rights on the register, and no
//! code but the server's own runs with other rights than the caller's.

use base::Result;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_INVALID_OBJECT_DEFINITION, ERRCODE_NOT_NULL_VIOLATION, ERRCODE_UNDEFINED_TABLE,
};

use super::fill::empty;
use super::stored::Register;
use pg::entry;
use pg::error::{sql_error, OrRaise};
use pg::ffi;
use pg::function::trigger::{protocol_violated, TriggerCall};
use pg::message::words;
use pg::values::varlena::NewValue;

/// `() RETURNS trigger`
///
/// `bloom_register_keep() RETURNS trigger`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_register_keep(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which lives until it returns.
    unsafe { run(fcinfo) }.or_raise();
    NewValue(pg_sys::Datum::null())
}

/// # Safety
/// `fcinfo` is that of the running call.
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<()> {
    // SAFETY: the server's call runs until this function returns, so `call` does not outlive it.
    let call = unsafe { TriggerCall::new(fcinfo, "bloom_register_keep")? };
    if call.timing() != pg_sys::TRIGGER_EVENT_AFTER {
        return Err(protocol_violated(
            "function \"bloom_register_keep\" must be fired AFTER the event",
        )
        .hint("Such triggers are made by bloom_register_create()."));
    }
    let register = register_of(&call)?;
    if call.event() == pg_sys::TRIGGER_EVENT_TRUNCATE {
        empty(&register);
        return Ok(());
    }
    if !call.is_for_rows() {
        return Err(protocol_violated(
            "function \"bloom_register_keep\" must be fired for each row",
        )
        .hint("Such triggers are made by bloom_register_create()."));
    }
    let (first, second) = (call.tg_trigslot, call.tg_newslot);
    let [old, new] = match call.event() {
        pg_sys::TRIGGER_EVENT_INSERT => [None, Some(first)],
        pg_sys::TRIGGER_EVENT_DELETE => [Some(first), None],
        _ => [Some(first), Some(second)],
    };
    let change = Change {
        register: &register,
        call: &call,
    };
    if let [Some(old), Some(new)] = [old, new] {
        if change.is_of_others(old, new) {
            return Ok(());
        }
    }
    change.keep(old, new)
}

/// The register that the trigger's argument names.
///
/// Errors: there is none; it is of another table.
fn register_of(call: &TriggerCall) -> Result<std::rc::Rc<Register>> {
    let args = call.args();
    let [name] = &args[..] else {
        return Err(protocol_violated(
            "function \"bloom_register_keep\" needs the name of a register as its argument",
        )
        .hint("Such triggers are made by bloom_register_create()."));
    };
    // SAFETY: a C string. The parts of the name are looked up as in a query, and no relation is not an error. The snapshot
    // is registered as long as it is used, since a transaction may have an older one than the register.
    unsafe {
        let names = pg_sys::stringToQualifiedNameList(
            name.as_ptr(),
            #[cfg(not(feature = "pg15"))]
            std::ptr::null_mut(),
        );
        let variable = pg_sys::makeRangeVarFromNameList(names);
        let (flags, none) = (pg_sys::RVROption::RVR_MISSING_OK, std::ptr::null_mut());
        let lock = pg_sys::NoLock as i32;
        let oid = pg_sys::RangeVarGetRelidExtended(variable, lock, flags, None, none);
        if oid == pg_sys::InvalidOid {
            let (trigger, table) = (call.trigger_name(), call.table());
            return Err(sql_error(
                ERRCODE_UNDEFINED_TABLE,
                words!("register \"{name}\" of trigger \"{trigger}\" on table \"{table}\" does not exist"),
            )
            .detail("It was dropped or renamed by other means than the functions for registers.")
            .hint(words!("Name it as it was, or drop the triggers of the table that are called like it.")));
        }
        let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot());
        let register = Register::open(oid, snapshot);
        pg_sys::UnregisterSnapshot(snapshot);
        if register.relation == call.table() {
            return Ok(register);
        }
        let (trigger, table) = (call.trigger_name(), call.table());
        Err(sql_error(
            ERRCODE_INVALID_OBJECT_DEFINITION,
            words!("register \"{oid}\" of trigger \"{trigger}\" is not one of table \"{table}\""),
        )
        .hint("Drop the trigger, and make a register of the table by bloom_register_create()."))
    }
}

/// A row that was changed.
struct Change<'a> {
    register: &'a Register,
    call: &'a TriggerCall,
}

type Slot = *mut pg_sys::TupleTableSlot;

impl Change<'_> {
    /// The value of a column; `None` for NULL.
    fn value(&self, slot: Slot, column: i16) -> Option<pg_sys::Datum> {
        let mut null = false;
        // SAFETY: the slot holds a row of the trigger's table, and the server refuses the number of a column that it has not.
        let value = unsafe { pg_sys::slot_getattr(slot, column.into(), &mut null) };
        (!null).then_some(value)
    }

    /// Whether an UPDATE leaves alone what the register has of a row.
    fn is_of_others(&self, old: Slot, new: Slot) -> bool {
        let mut columns = self
            .register
            .numbers
            .iter()
            .chain([&self.register.key_number]);
        // SAFETY: an open relation has a descriptor, with as many columns as it says.
        let form = |column: i16| unsafe {
            &*ffi::attribute((*self.call.tg_relation).rd_att, i32::from(column) - 1)
        };
        columns.all(
            |&column| match [old, new].map(|slot| self.value(slot, column)) {
                // SAFETY: two values of the column's type.
                [Some(a), Some(b)] => unsafe {
                    let form = form(column);
                    ffi::datum_image_eq(a, b, form.attbyval, form.attlen.into())
                },
                [None, None] => true,
                _ => false,
            },
        )
    }

    /// The key of a row, and its keys in the register.
    ///
    /// Errors: the key is NULL.
    fn keys(&self, slot: Option<Slot>) -> Result<Option<(pg_sys::Datum, Vec<i64>)>> {
        let Some(slot) = slot else { return Ok(None) };
        let register = self.register;
        let Some(id) = self.value(slot, register.key_number) else {
            return Err(sql_error(
                ERRCODE_NOT_NULL_VIOLATION,
                words!("null value in column \"{register.key.name}\" of table \"{register.relation}\", which is the key of register \"{register.oid}\""),
            ));
        };
        // SAFETY: the slot holds a row of the table, which is open.
        let record = unsafe { register.texts.of_row(self.call.tg_relation, slot) };
        Ok(Some((id, register.keys_of(&record))))
    }

    /// Deletes the keys that a record has no longer, and adds those that are new.
    fn keep(&self, old: Option<Slot>, new: Option<Slot>) -> Result<()> {
        let (old, new) = (self.keys(old)?, self.keys(new)?);
        let register = self.register;
        // SAFETY: two keys of the register's type.
        let is_same_id = matches!((&old, &new), (Some((a, _)), Some((b, _)))
            if unsafe { register.key_type.is_same(*a, *b) });
        let keys = |of: &Option<(_, Vec<i64>)>| of.as_ref().map_or(Vec::new(), |of| of.1.clone());
        let (of_old, of_new) = (keys(&old), keys(&new));
        let is_in = |keys: &[i64], key: &i64| is_same_id && keys.binary_search(key).is_ok();
        let gone: Vec<i64> = of_old
            .iter()
            .copied()
            .filter(|key| !is_in(&of_new, key))
            .collect();
        let added: Vec<i64> = of_new
            .iter()
            .copied()
            .filter(|key| !is_in(&of_old, key))
            .collect();
        if let Some((id, _)) = old.filter(|_| !gone.is_empty()) {
            register.delete_keys(&gone, id);
        }
        if let Some((id, _)) = new.filter(|_| !added.is_empty()) {
            register.add_keys(&added, id);
        }
        Ok(())
    }
}

impl Register {
    /// Deletes keys of a record. Those of closed blocks may not be there.
    fn delete_keys(&self, keys: &[i64], id: pg_sys::Datum) {
        // SAFETY: a constant of the server's, which sees what this command has done, too.
        let mut reader = self.keys.read(unsafe { now() });
        let writer = self.keys.write();
        for &key in keys {
            let mut found = Vec::new();
            reader.each(key, |row| {
                // SAFETY: both are of the key's type.
                if row
                    .id()
                    .is_some_and(|of_row| unsafe { self.key_type.is_same(of_row, id) })
                {
                    found.push(row.tid());
                }
                true
            });
            found.into_iter().for_each(|tid| writer.delete(tid));
        }
    }

    /// Adds keys of a record, and closes the blocks that have as many records as they may have.
    fn add_keys(&self, keys: &[i64], id: pg_sys::Datum) {
        // SAFETY: as above.
        let snapshot = unsafe { now() };
        let (mut closed, mut reader) = (self.closed.read(snapshot), self.keys.read(snapshot));
        let (writer, mut closing) = (self.keys.write(), None);
        for &key in keys {
            if closed.has(key) {
                continue;
            }
            let (most, mut records) = (self.most_of(key), 0);
            reader.each(key, |_| {
                records += 1;
                records < most
            });
            if records < most {
                writer.add(key, Some(id));
            } else {
                closing
                    .get_or_insert_with(|| self.closed.write())
                    .add(key, None);
            }
        }
    }
}

/// A snapshot that sees what is committed now, and all that this transaction has done.
///
/// # Safety
/// It is used in a transaction.
unsafe fn now() -> pg_sys::Snapshot {
    &raw mut pg_sys::SnapshotSelfData
}
