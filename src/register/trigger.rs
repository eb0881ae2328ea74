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

use std::cell::Cell;
use std::ffi::CStr;
use std::rc::Rc;

use super::fill::empty;
use super::row::Version;
use super::stored::Register;
use pg::entry;
use pg::error::{sql_error, OrRaise};
use pg::ffi;
use pg::function::trigger::{protocol_violated, TriggerCall};
use pg::message::words;
use pg::relation;
use pg::row::{is_live, newest, Row};
use pg::snapshot::{dirty, now};
use pg::tid::Tid;
use pg::values::varlena::{is_same_value, NewValue};

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
        register.end_entities()?;
        KEPT.set(None);
        empty(&register);
        return Ok(());
    }
    if !call.is_for_rows() {
        return Err(protocol_violated(
            "function \"bloom_register_keep\" must be fired for each row",
        )
        .hint("Such triggers are made by bloom_register_create()."));
    }
    let row = |slot| {
        // SAFETY: the slot holds a row of the trigger's table, which is open, as long as the call runs.
        unsafe { Row::new(call.tg_relation, slot, std::ptr::null_mut()) }
    };
    let (first, second) = (call.tg_trigslot, call.tg_newslot);
    let [old, new] = match call.event() {
        pg_sys::TRIGGER_EVENT_INSERT => [None, Some(row(first))],
        pg_sys::TRIGGER_EVENT_DELETE => [Some(row(first)), None],
        _ => [Some(row(first)), Some(row(second))],
    };
    register.keep(old.as_ref(), new.as_ref())
}

/// The register that the trigger's argument names.
///
/// Errors: there is none; it is of another table.
fn register_of(call: &TriggerCall) -> Result<Rc<Register>> {
    let args = call.args();
    let [name] = &args[..] else {
        return Err(protocol_violated(
            "function \"bloom_register_keep\" needs the name of a register as its argument",
        )
        .hint("Such triggers are made by bloom_register_create()."));
    };
    Register::latest(named_beside(call, name)?, call.table())
}

/// The register that a trigger names, which is in the schema of the trigger's table, whatever that is called, and whoever may
/// use it.
///
/// Errors: there is none.
pub fn named_beside(call: &TriggerCall, name: &CStr) -> Result<pg_sys::Oid> {
    // SAFETY: look-ups in the catalogs, by a C string.
    let oid = unsafe {
        let schema = pg_sys::get_rel_namespace(call.table());
        pg_sys::get_relname_relid(name.as_ptr(), schema)
    };
    if oid != pg_sys::InvalidOid {
        return Ok(oid);
    }
    let (trigger, table) = (call.trigger_name(), call.table());
    Err(sql_error(
        ERRCODE_UNDEFINED_TABLE,
        words!("register \"{name}\" of trigger \"{trigger}\" on table \"{table}\" does not exist"),
    )
    .detail("It was dropped, renamed or moved to another schema than its table.")
    .hint("Name it as it was, or drop what is left of it: the triggers of the table that are called like it, and its table of keys."))
}
/// A version of a row, and when its keys were in a register. While all of this stays the same, they still are: what was
/// done since was done by triggers of the same command, and those that delete keys forget this; a rollback of what has
/// added them ends the subtransaction; and a command that could write to the register, or change it, is another one.
///
/// So a guard and the register's own trigger, which fire for a row one after the other, do the work once.
#[derive(Clone, Copy, PartialEq, Eq)]
struct KeptRow {
    register: (pg_sys::Oid, Version),
    row: (pg_sys::Oid, Tid),
    transaction: u64,
    subtransaction: pg_sys::SubTransactionId,
    command: pg_sys::CommandId,
}

pg::session_state! {
    static KEPT: Cell<Option<KeptRow>> = Cell::default();
    "the row whose keys were kept" by "the last" until "the next command or row";
}

impl KeptRow {
    /// Now, of a row that the transaction has written.
    fn now(register: &Register, row: &Row) -> KeptRow {
        // SAFETY: the slot holds a row of the table, and a trigger runs in a transaction.
        unsafe {
            KeptRow {
                register: (register.oid, register.version),
                row: (row.table_oid(), (*row.slot).tts_tid.into()),
                transaction: pg_sys::GetTopFullTransactionIdIfAny().value,
                subtransaction: pg_sys::GetCurrentSubTransactionId(),
                command: pg_sys::GetCurrentCommandId(false),
            }
        }
    }
}

impl Register {
    /// A register as it is now, whatever the transaction sees: it may be younger than its snapshot.
    ///
    /// Errors: those of [`Register::open`].
    pub fn newest(oid: pg_sys::Oid) -> Rc<Register> {
        Register::open(oid, &now())
    }

    /// The same register, whose table nobody changes any more until the end of the transaction.
    ///
    /// Errors: those of [`Register::open`].
    pub fn locked(self: Rc<Register>) -> Rc<Register> {
        relation::lock(self.relation, pg_sys::AccessShareLock);
        // What was found out may be older than the lock.
        Register::newest(self.oid)
    }

    /// The same.
    ///
    /// Errors: it is not one of this table; those of [`Register::open`].
    pub fn latest(oid: pg_sys::Oid, table: pg_sys::Oid) -> Result<Rc<Register>> {
        let register = Register::newest(oid);
        if register.relation == table {
            return Ok(register);
        }
        Err(sql_error(
            ERRCODE_INVALID_OBJECT_DEFINITION,
            words!("register \"{oid}\" is not one of table \"{table}\""),
        )
        .hint("Make a register of the table by bloom_register_create()."))
    }

    /// Whether an UPDATE leaves alone what the register has of a row.
    fn is_of_others(&self, old: &Row, new: &Row) -> bool {
        let mut columns = self.numbers.iter().chain([&self.key_number]);
        // SAFETY: an open relation has a descriptor, with as many columns as it says.
        let form =
            |column: i16| unsafe { &*ffi::attribute((*new.table).rd_att, i32::from(column) - 1) };
        columns.all(|&column| match [old, new].map(|row| row.get(column)) {
            // SAFETY: two values of the column's type.
            [Some(a), Some(b)] => unsafe {
                let form = form(column);
                is_same_value(a, b, form.attbyval, form.attlen)
            },
            [None, None] => true,
            _ => false,
        })
    }

    /// The key of a row.
    ///
    /// Errors: it is NULL.
    fn id_of(&self, row: &Row) -> Result<pg_sys::Datum> {
        row.get(self.key_number).ok_or_else(|| {
            sql_error(
                ERRCODE_NOT_NULL_VIOLATION,
                words!(
                    "null value in column \"{self.key.name}\" of table \"{self.relation}\", which is the \
                    key of register \"{self.oid}\""
                ),
            )
        })
    }

    /// The key of a row, and its keys in the register.
    ///
    /// Errors: the key is NULL.
    fn of_row(&self, row: &Row) -> Result<(pg_sys::Datum, Vec<i64>)> {
        let id = self.id_of(row)?;
        Ok((id, self.keys_of(&self.texts.of_row(row))))
    }

    /// Keeps the keys of a row that has changed, and the entities of the register.
    ///
    /// Errors: a key is NULL; a deadlock; those of reading values.
    fn keep(&self, old: Option<&Row>, new: Option<&Row>) -> Result<()> {
        if let (Some(old), Some(new)) = (old, new) {
            if self.is_of_others(old, new) {
                return Ok(());
            }
        }
        if self.settings.is_empty() {
            return self.keep_keys(old, new).map(|_| ());
        }
        let begun = self.begin_change(old, new)?;
        let is_same = !self.keep_keys(old, new)?;
        self.end_change(begun, old, new, is_same)
    }

    /// Deletes the keys that a row has no longer, and adds those that are missing. Whether there are any.
    ///
    /// A trigger that fires before may have changed the row once more, and the register has heard of that first. So what is
    /// kept are the keys of the newest version, whichever of its changes is reported.
    ///
    /// Errors: a key is NULL.
    fn keep_keys(&self, old: Option<&Row>, new: Option<&Row>) -> Result<bool> {
        let newest = match new {
            Some(new) if !is_live(new) => Some(newest(new)),
            Some(new) if old.is_none() && KEPT.get() == Some(KeptRow::now(self, new)) => {
                return Ok(false);
            }
            _ => None,
        };
        let stays: Option<&Row> = match &newest {
            None => new,
            Some(newest) => newest.as_ref().map(|newest| &**newest),
        };
        let kept = stays.map(|row| self.of_row(row)).transpose()?;
        let was = old.into_iter().chain(new.filter(|_| newest.is_some()));
        let mut changed = false;
        for row in was {
            let (id, mut keys) = self.of_row(row)?;
            let is_gone = |keys_now: &[i64], key: &i64| keys_now.binary_search(key).is_err();
            match &kept {
                // SAFETY: two keys of the register's type.
                Some((id_now, keys_now)) if unsafe { self.key_type.is_same(id, *id_now) } => {
                    keys.retain(|key| is_gone(keys_now, key));
                }
                // A trigger may have entered a row of the same key meanwhile.
                _ => {
                    for keys_now in self.keys_of_id(id)? {
                        keys.retain(|key| is_gone(&keys_now, key));
                    }
                }
            }
            changed |= !keys.is_empty();
            self.delete_keys(&keys, id);
        }
        match stays.zip(kept) {
            Some((row, (_, keys))) => Ok(self.keep_keys_of(row, &keys)? || changed),
            None => Ok(changed),
        }
    }

    /// The keys of each row that has this key in the table now: there is one at most.
    fn keys_of_id(&self, id: pg_sys::Datum) -> Result<Vec<Vec<i64>>> {
        let mut reader = self.rows.read(&now());
        let mut found = Vec::new();
        reader.each_of(id, |row| {
            found.push(self.of_row(&row.row()).map(|(_, keys)| keys));
            true
        });
        found.into_iter().collect()
    }

    /// Adds the keys of a row that is in the table, where they are missing, and has it be in entities.
    ///
    /// Errors: its key is NULL; those of [`Register::keep`].
    pub fn keep_row(&self, row: &Row, keys: &[i64]) -> Result<()> {
        match self.settings.is_empty() {
            true => self.keep_keys_of(row, keys).map(|_| ()),
            false => self.keep(None, Some(row)),
        }
    }

    /// Adds the keys of a row that is in the table, where they are missing. Whether there are any.
    ///
    /// Errors: its key is NULL.
    fn keep_keys_of(&self, row: &Row, keys: &[i64]) -> Result<bool> {
        let id = self.id_of(row)?;
        let this = KeptRow::now(self, row);
        let is_new = KEPT.replace(None) != Some(this);
        let added = match is_new {
            true => self.add_keys(keys, id),
            false => 0,
        };
        KEPT.set(Some(this));
        Ok(added > 0)
    }

    /// The records that have one of these keys in an open block, or have had it, but for `own`, also those of transactions
    /// that have not ended: their keys, in an order that does not depend on where rows are. And which of these keys are of
    /// open blocks.
    pub fn candidate_ids(
        &self,
        keys: &[i64],
        own: Option<pg_sys::Datum>,
    ) -> (Vec<pg_sys::Datum>, Vec<i64>) {
        let mut reader = self.keys.read(&dirty());
        let (mut ids, mut open) = (Vec::new(), Vec::new());
        for &key in keys {
            let (before, mut is_open) = (ids.len(), true);
            reader.seek(key.into());
            while let Some(id) = reader.next_entry() {
                match id {
                    // SAFETY: keys of the register's type.
                    Some(id) => unsafe {
                        if own.is_none_or(|own| !self.key_type.is_same(own, id)) {
                            ids.push(self.key_type.copy(id));
                        }
                    },
                    // Who closes the block may be rolled back.
                    None => is_open = !reader.is_seen() || reader.inserter().is_some(),
                }
                if !is_open {
                    break;
                }
            }
            match is_open {
                true => open.push(key),
                false => ids.truncate(before),
            }
        }
        // SAFETY: copies of the key's type, which live as long as the memory of the call.
        let order = |a: &pg_sys::Datum, b: &pg_sys::Datum| unsafe {
            self.key_type.bytes(a).cmp(self.key_type.bytes(b))
        };
        ids.sort_unstable_by(order);
        ids.dedup_by(|a, b| order(a, b).is_eq());
        (ids, open)
    }

    /// Deletes keys of a record. Those of closed blocks may not be there.
    fn delete_keys(&self, keys: &[i64], id: pg_sys::Datum) {
        KEPT.set(None);
        if keys.is_empty() {
            return;
        }
        let mut reader = self.keys.read(&now());
        let writer = self.keys.write();
        for &key in keys {
            let mut found = Vec::new();
            reader.each(key, |row| {
                // SAFETY: both are of the key's type.
                let is_same = |of_row| unsafe { self.key_type.is_same(of_row, id) };
                if row.id().is_some_and(is_same) {
                    found.push(row.tid());
                }
                true
            });
            found.into_iter().for_each(|tid| writer.delete(tid));
        }
    }

    /// Adds keys of a record where they are missing, and says how many; closes the blocks that have as many others as they may have records.
    fn add_keys(&self, keys: &[i64], id: pg_sys::Datum) -> usize {
        let mut reader = self.keys.read(&now());
        let mut missing = Vec::new();
        for &key in keys {
            let (most, mut others) = (self.most_of(key), 0);
            // SAFETY: both are of the key's type.
            let is_same = |other| unsafe { self.key_type.is_same(other, id) };
            // Mostly the index says that there are fewer, and only others: then it does not matter which of them are gone.
            reader.seek(key.into());
            let (mut is_clear, mut is_done) = (most > 0, false);
            while is_clear {
                let Some(other) = reader.next_entry() else {
                    break;
                };
                others += 1;
                let matters = other.is_none_or(is_same);
                is_done = matters && reader.is_seen();
                is_clear = !matters && others < most;
            }
            if is_done {
                continue;
            }
            if is_clear {
                missing.push((key, Some(id)));
                continue;
            }
            others = 0;
            let (mut is_closed, mut is_there) = (false, false);
            // One more than the block may have says that it is closed, if it is.
            reader.each(key, |row| {
                match row.id() {
                    None => is_closed = true,
                    Some(other) => is_there = is_same(other),
                }
                others += 1;
                !is_closed && !is_there
            });
            if !is_closed && !is_there {
                missing.push((key, Some(id).filter(|_| others < most)));
            }
        }
        if missing.is_empty() {
            return 0;
        }
        let (mut writer, added) = (self.keys.write(), missing.len());
        missing
            .into_iter()
            .for_each(|(key, id)| writer.add(key, id));
        writer.write();
        added
    }
}
