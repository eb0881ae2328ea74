//! The trigger function `bloom_guard`: what the trigger manager passes, which row is checked, and what comes of it.

use base::{Error, Result};
use pg::error::OrRaise;
use std::cell::OnceCell;
use std::ops::Deref;

use linkage::guard::options::GuardAction;
use pgrx::pg_sys;

use super::actions::{act, notify_full, rights, violations};
use super::candidates::{bulk, search, RowTid, SearchOutcome, SearchedRow};
use super::compare::decisions::{decide, DecidedRow};
use super::compare::{Comparability, ComparedRow};
use super::options::GuardOptions;
use super::partition_moves;
use super::prepared::{self, PreparedGuard};
use pg::catalog;
use pg::entry;
use pg::function::trigger::{self, protocol_violated};
use pg::message::words;
use pg::row::{is_live, is_of_this_transaction, newest, Row};
use pg::values::varlena::{is_same_value, NewValue};

/// `() RETURNS trigger`
///
/// `bloom_guard() RETURNS trigger`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_guard(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which lives until it returns.
    NewValue(unsafe { run(fcinfo) }.or_raise())
}

/// Returns the row that goes on; NULL if a BEFORE trigger skips it, or for an AFTER trigger.
///
/// # Safety
/// `fcinfo` is that of the running call.
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: the server's call runs until this function returns, so `call` does not outlive it.
    let call = unsafe { TriggerCall::new(fcinfo)? };
    let guard = prepared::guard(&call)?;
    if !guard.options.action.is_before() {
        after(&call, &guard)?;
    } else if before(&call, &guard)? {
        return Ok(pg_sys::Datum::from(match call.is_update() {
            true => call.tg_newtuple,
            false => call.tg_trigtuple,
        }));
    }
    Ok(pg_sys::Datum::null())
}

/// A call of the trigger function, for a row that was inserted or updated.
pub struct TriggerCall(trigger::TriggerCall);

impl Deref for TriggerCall {
    type Target = trigger::TriggerCall;

    fn deref(&self) -> &trigger::TriggerCall {
        &self.0
    }
}

impl TriggerCall {
    /// Errors: the function is not called for rows, or for other events than INSERT and UPDATE (39P01).
    ///
    /// # Safety
    /// `fcinfo` is that of a running call, and the result does not outlive the call.
    unsafe fn new(fcinfo: pg_sys::FunctionCallInfo) -> Result<TriggerCall> {
        // SAFETY: the caller's.
        let call = TriggerCall(unsafe { trigger::TriggerCall::new(fcinfo, "bloom_guard")? });
        call.check_event()?;
        Ok(call)
    }

    /// Errors: the trigger is not for rows, or for other events than INSERT and UPDATE, or INSTEAD OF them (39P01).
    fn check_event(&self) -> Result<()> {
        let is_insert = self.event() == pg_sys::TRIGGER_EVENT_INSERT;
        let (fault, hint) = if !self.is_for_rows() {
            let hint = "Create the trigger with FOR EACH ROW.";
            ("must be fired for each row", Some(hint))
        } else if !is_insert && !self.is_update() {
            ("must be fired for INSERT or UPDATE", None)
        } else if self.timing() == pg_sys::TRIGGER_EVENT_INSTEAD {
            let hint = "Create the trigger on the table behind the view.";
            ("cannot be fired INSTEAD OF the event", Some(hint))
        } else {
            return Ok(());
        };
        let message = protocol_violated(words!("function \"bloom_guard\" {fault}"));
        Err(hint.into_iter().fold(message, Error::hint))
    }

    /// Whether the trigger fires for some UPDATE.
    pub fn fires_for_update(&self) -> bool {
        self.trigger().tgtype & pg_sys::TRIGGER_TYPE_UPDATE as i16 != 0
    }

    /// Whether the trigger fires for every UPDATE: for UPDATE at all, of any columns, and without a condition.
    pub fn fires_for_every_update(&self) -> bool {
        let trigger = self.trigger();
        self.fires_for_update() && trigger.tgnattr == 0 && trigger.tgqual.is_null()
    }

    /// The row of an INSERT, or the new row of an UPDATE.
    fn new_row(&self) -> Row {
        let (is_before, none) = (
            self.timing() == pg_sys::TRIGGER_EVENT_BEFORE,
            std::ptr::null_mut(),
        );
        let slot = if self.is_update() {
            self.tg_newslot
        } else {
            self.tg_trigslot
        };
        let function = if is_before { self.function } else { none };
        // SAFETY: the slot holds a row of the trigger's table as long as the call runs, and the function is that of the
        // call, for which nothing but `Row` uses fn_extra.
        unsafe { Row::new(self.tg_relation, slot, function) }
    }

    /// The old row of an UPDATE.
    pub fn old_row(&self) -> Option<Row> {
        // SAFETY: the slot holds a row of the trigger's table as long as the call runs.
        let row = || unsafe { Row::new(self.tg_relation, self.tg_trigslot, std::ptr::null_mut()) };
        self.is_update().then(row)
    }

    /// Where the old row of an UPDATE is, in a BEFORE trigger.
    fn old_tid(&self) -> Option<RowTid> {
        // SAFETY: the data has the old row as a tuple.
        let tid = || unsafe { (*self.tg_trigtuple).t_self }.into();
        let table = self.table();
        self.is_update().then(|| RowTid { table, tid: tid() })
    }

    /// Errors: the trigger fires BEFORE or AFTER the event, and the action needs the other, or it does not fire for
    /// UPDATE, and option `keep` needs that (39P01).
    pub fn check_timing(&self, options: &GuardOptions) -> Result<()> {
        let trigger = self.trigger_name();
        let (before, after) = (pg_sys::TRIGGER_EVENT_BEFORE, pg_sys::TRIGGER_EVENT_AFTER);
        let (timing, name, others) = match options.action.is_before() {
            true => (before, "BEFORE", "reject, warn or flag."),
            false => (after, "AFTER", "skip."),
        };
        if self.timing() != timing {
            let action = options.action.name();
            return Err(protocol_violated(words!(
                "action {action} of bloom_guard needs a trigger fired {name} the event"
            ))
            .hint(words!(
                "Create trigger \"{trigger}\" with {name} INSERT OR UPDATE, or take action {others}"
            )));
        }
        if options.keep.is_some() && !self.fires_for_update() {
            let message = "option \"keep\" of bloom_guard needs a trigger fired for UPDATE";
            return Err(protocol_violated(message).hint(words!(
                "Create trigger \"{trigger}\" for INSERT OR UPDATE, or leave the option out."
            )));
        }
        Ok(())
    }
}

/// Action `skip`: the row is not in the table yet, and is left out if it is too similar to another one, or left as it
/// is if it would become another. Returns whether it goes on.
///
/// Errors: those of writing to the table of skipped rows.
fn before(call: &TriggerCall, guard: &PreparedGuard) -> Result<bool> {
    let new = call.new_row();
    if !violations::check_change(call, guard, &new)? {
        return Ok(false);
    }
    let comparability = guard.comparator.comparability(guard.own.row(&new));
    let own = call.old_tid();
    let is_known = match call.old_row() {
        None => partition_moves::arrives(call, guard, &new),
        Some(old) => is_same(guard, &old, &new) && is_compared_as_before(guard, &old, &new),
    };
    // What can be compared with nothing takes the place of what is remembered of the row, too.
    let goes_on = if is_known || comparability == Comparability::Nothing {
        true
    } else if comparability == Comparability::Full {
        notify_full(call, guard);
        true
    } else {
        check(call, guard, (call.old_row().as_ref(), &new), own)?
    };
    if let Some(own) = own.filter(|_| goes_on) {
        partition_moves::remember(call, guard, own, &new);
    }
    Ok(goes_on)
}

/// Actions `reject`, `warn` and `flag`: the row is in the table already, and its index entry too.
///
/// Errors: the row is too similar to another one (23P85), or has become another (23P86), and the action is `reject`;
/// those of writing to the review table.
fn after(call: &TriggerCall, guard: &PreparedGuard) -> Result<()> {
    let new = call.new_row();
    violations::check_change(call, guard, &new)?;
    let old = call.old_row();
    let is_unchanged = |old: &Row| is_same(guard, old, &new);
    match guard.comparator.comparability(guard.own.row(&new)) {
        Comparability::Nothing => return Ok(()),
        Comparability::Full => {
            if !old.as_ref().is_some_and(is_unchanged) {
                notify_full(call, guard);
            }
            return Ok(());
        }
        Comparability::Comparable => (),
    }
    // The check of a row that this transaction has inserted may have been left to its newest version.
    let is_checked = |old: &Row| {
        is_unchanged(old) && is_compared_as_before(guard, old, &new) && !is_of_this_transaction(old)
    };
    if old.as_ref().is_some_and(is_checked) {
        return Ok(());
    }
    let check = |row: &Row| {
        // SAFETY: the slot holds the row.
        let tid = unsafe { (*row.slot).tts_tid }.into();
        let table = call.table();
        let rows = (old.as_ref(), row);
        check(call, guard, rows, Some(RowTid { table, tid })).map(|_| ())
    };
    if is_live(&new) {
        return check(&new);
    }
    // A deferred trigger, and one that fires after another trigger has changed the row, fires for a version that is no
    // longer the newest. If the trigger fires for every UPDATE, it fires for the newest version too.
    if call.fires_for_every_update() {
        return Ok(());
    }
    match newest(&new) {
        Some(newest) if is_same(guard, &newest, &new) => check(&newest),
        _ => Ok(()),
    }
}

/// Whether two versions of a row have the same in the columns that the comparator reads.
fn is_same(guard: &PreparedGuard, a: &Row, b: &Row) -> bool {
    let (a, b) = (guard.own.row(a), guard.own.row(b));
    let types = guard.own.columns.iter().map(|&column| {
        let (mut length, mut by_value) = (0, false);
        let of_type = catalog::column_type(guard.own.oid, column);
        // SAFETY: a catalog look-up of a type that exists.
        unsafe { pg_sys::get_typlenbyval(of_type, &mut length, &mut by_value) };
        (length, by_value)
    });
    let values = a.values().zip(b.values());
    values
        .zip(types)
        .all(|(values, (length, by_value))| match values {
            // SAFETY: two values of the column's type.
            (Some(a), Some(b)) => unsafe { is_same_value(a, b, by_value, length) },
            (a, b) => a.is_none() && b.is_none(),
        })
}

/// Whether an UPDATE leaves it open with which rows a row is compared: it is equal to the same ones, or to none, in the
/// columns of `within`, and decisions about it as it was are about it as it is. With another key, a row that was let in
/// by a decision could give its key to the next one.
fn is_compared_as_before(guard: &PreparedGuard, old: &Row, new: &Row) -> bool {
    let values = guard.own.within.values(new);
    // SAFETY: the values are of the columns' types.
    let is_equal = |values: Vec<_>| unsafe { guard.own.within.is_equal(old, &values) };
    let is_of_same_key = || match (&guard.decisions, &guard.own.key) {
        (Some(_), Some(key)) => key.text(old, guard.owner) == key.text(new, guard.owner),
        _ => true,
    };
    values.is_none_or(is_equal) && is_of_same_key()
}

/// Searches for rows that are similar to one, and does what the action says. Returns whether it goes on. `own` is the
/// row in the table, if it is there.
///
/// An UPDATE is asked for what it makes similar: rows that are similar to the old version, too, are no matter, or nobody
/// could correct a row of which there is another one already. Of a block list every row counts. The old version is one that
/// was committed, and so was checked, since the trigger fires for every UPDATE, or it was there before the guard.
fn check(
    call: &TriggerCall,
    guard: &PreparedGuard,
    (old, row): (Option<&Row>, &Row),
    own: Option<RowTid>,
) -> Result<bool> {
    let Some(within) = guard.own.within.values(row) else {
        return Ok(true);
    };
    rights::check_owner(guard)?;
    let is_before = guard.options.action.is_before();
    if let Some(own) = own.filter(|_| !is_before) {
        let trigger = (call.trigger().tgoid, call.fires_for_every_update());
        // SAFETY: the trigger's table is open, and the row is in it, with its index entries.
        if unsafe { bulk::is_clear(guard, trigger, call.tg_relation, own) } {
            return Ok(true);
        }
    }
    let Some(prepared) = guard.comparator.prepare(guard.own.row(row), !is_before) else {
        return Ok(true);
    };
    let waits = matches!(
        guard.options.action,
        GuardAction::Reject | GuardAction::Skip
    );
    let decided = guard.decisions.as_ref().zip(guard.own.key.as_ref());
    let decided = decided.map(|(decisions, key)| DecidedRow {
        decisions,
        row,
        key: key.text(row, guard.owner),
    });
    let is_before_update = |old: &&Row| {
        !guard.is_list()
            && call.fires_for_every_update()
            && !is_of_this_transaction(old)
            && is_compared_as_before(guard, old, row)
    };
    let before = old.filter(is_before_update);
    let prepared_before = OnceCell::new();
    let was_similar = |candidate: ComparedRow<'_>| {
        let Some(old) = before else {
            return false;
        };
        let old = prepared_before.get_or_init(|| guard.comparator.prepare_old(guard.own.row(old)));
        old.as_ref().is_some_and(|old| old.is_similar(candidate))
    };
    let outcome = decide(decided.as_ref(), |with_keys| {
        let wanted = SearchedRow {
            row: &*prepared,
            within: &within,
            was_similar: &was_similar,
            decided: decided.as_ref(),
            with_keys,
            waits,
        };
        search(guard, wanted, own)
    });
    let found = match outcome {
        SearchOutcome::Rows(found, _) if found.count == 0 => return Ok(true),
        SearchOutcome::Rows(found, _) => Some(found),
        SearchOutcome::Deadlock => None,
    };
    let found = found.as_ref();
    act(call, guard, row, found, || {
        violations::too_similar(guard, found)
    })
}
