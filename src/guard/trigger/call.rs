//! What the trigger manager passes, and whether the trigger was declared as the guard needs it.

use base::{Error, Result};
use pg::error::sql_error;
use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::guard::candidates::RowTid;
use crate::guard::options::GuardOptions;
use crate::guard::row::Row;
use pg::message::words;

/// A call of the trigger function.
pub struct TriggerCall {
    /// Complete, and valid as long as the call runs.
    pub data: *mut pg_sys::TriggerData,
    /// The function as the server keeps it for the statement.
    pub function: *mut pg_sys::FmgrInfo,
}

fn protocol_violated(message: impl Into<base::error::Text>) -> Error {
    sql_error(
        PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        message,
    )
}

impl TriggerCall {
    /// Errors: the function is not called for rows, or for other events than INSERT and UPDATE (39P01).
    ///
    /// # Safety
    /// `fcinfo` is that of a running call, and the result does not outlive the call.
    pub unsafe fn of(fcinfo: pg_sys::FunctionCallInfo) -> Result<TriggerCall> {
        // SAFETY: `fcinfo` is that of a running call. Its context is NULL or a node, and a TriggerData node is
        // complete.
        unsafe {
            let data: *mut pg_sys::TriggerData = (*fcinfo).context.cast();
            if data.is_null() || (*data).type_ != pg_sys::NodeTag::T_TriggerData {
                return Err(protocol_violated(
                    "function \"bloom_guard\" was not called by trigger manager",
                ));
            }
            let call = TriggerCall {
                data,
                function: (*fcinfo).flinfo,
            };
            call.check_event()?;
            Ok(call)
        }
    }

    /// Errors: the trigger is not for rows, or for other events than INSERT and UPDATE, or INSTEAD OF them (39P01).
    fn check_event(&self) -> Result<()> {
        if self.event() & pg_sys::TRIGGER_EVENT_ROW == 0 {
            return Err(
                protocol_violated("function \"bloom_guard\" must be fired for each row")
                    .hint("Create the trigger with FOR EACH ROW."),
            );
        }
        let operation = self.event() & pg_sys::TRIGGER_EVENT_OPMASK;
        if operation != pg_sys::TRIGGER_EVENT_INSERT && operation != pg_sys::TRIGGER_EVENT_UPDATE {
            return Err(protocol_violated(
                "function \"bloom_guard\" must be fired for INSERT or UPDATE",
            ));
        }
        if self.event() & pg_sys::TRIGGER_EVENT_TIMINGMASK == pg_sys::TRIGGER_EVENT_INSTEAD {
            return Err(protocol_violated(
                "function \"bloom_guard\" cannot be fired INSTEAD OF the event",
            )
            .hint("Create the trigger on the table behind the view."));
        }
        Ok(())
    }

    fn event(&self) -> u32 {
        // SAFETY: the data is valid as long as the call runs, which this does not outlive.
        unsafe { (*self.data).tg_event }
    }

    /// Whether the event is an UPDATE; otherwise it is an INSERT.
    pub fn is_update(&self) -> bool {
        self.event() & pg_sys::TRIGGER_EVENT_OPMASK == pg_sys::TRIGGER_EVENT_UPDATE
    }

    /// The table that the trigger fires for, open and locked.
    pub fn relation(&self) -> pg_sys::Relation {
        // SAFETY: the data is valid as long as the call runs, which this does not outlive.
        unsafe { (*self.data).tg_relation }
    }

    /// The OID of that table.
    pub fn table(&self) -> pg_sys::Oid {
        // SAFETY: the trigger manager keeps the relation open as long as the call runs.
        unsafe { (*self.relation()).rd_id }
    }

    /// The trigger that has fired.
    pub fn trigger(&self) -> &pg_sys::Trigger {
        // SAFETY: the data is valid as long as the call runs, which this does not outlive, and it always has a trigger.
        unsafe { &*(*self.data).tg_trigger }
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

    /// In the database's encoding.
    pub fn trigger_name(&self) -> CString {
        // SAFETY: a trigger has a name, which is a C string.
        unsafe { CStr::from_ptr(self.trigger().tgname) }.to_owned()
    }

    /// The arguments of the trigger, as CREATE TRIGGER was given them.
    pub fn args(&self) -> Vec<CString> {
        let trigger = self.trigger();
        let arg = |i: usize| {
            // SAFETY: `i` is below the number of arguments, and each argument is a C string.
            unsafe { CStr::from_ptr(*trigger.tgargs.add(i)) }.to_owned()
        };
        (0..trigger.tgnargs as usize).map(arg).collect()
    }

    /// Whether the trigger fires BEFORE the event.
    fn is_before(&self) -> bool {
        self.event() & pg_sys::TRIGGER_EVENT_TIMINGMASK == pg_sys::TRIGGER_EVENT_BEFORE
    }

    /// The row of an INSERT, or the new row of an UPDATE.
    pub fn new_row(&self) -> Row {
        // SAFETY: the data is valid as long as the call runs, which this does not outlive: the slot holds a row of the
        // trigger's table, and the function is that of the call, for which nothing but `Row` uses fn_extra.
        unsafe {
            let slot = match self.is_update() {
                true => (*self.data).tg_newslot,
                false => (*self.data).tg_trigslot,
            };
            match self.is_before() {
                true => Row::before_computing(self.relation(), slot, self.function),
                false => Row::new(self.relation(), slot),
            }
        }
    }

    /// The old row of an UPDATE.
    pub fn old_row(&self) -> Option<Row> {
        // SAFETY: the data is valid as long as the call runs, which this does not outlive.
        let row = || unsafe { Row::new(self.relation(), (*self.data).tg_trigslot) };
        self.is_update().then(row)
    }

    /// Where the old row of an UPDATE is, in a BEFORE trigger.
    pub fn old_tid(&self) -> Option<RowTid> {
        // SAFETY: the data is valid as long as the call runs, and has the old row as a tuple.
        let tid = || unsafe { (*(*self.data).tg_trigtuple).t_self };
        self.is_update().then(|| RowTid {
            table: self.table(),
            tid: tid().into(),
        })
    }

    /// What a BEFORE trigger returns to let the row go on.
    pub fn go_on(&self) -> pg_sys::Datum {
        // SAFETY: the data is valid as long as the call runs, which this does not outlive.
        unsafe {
            pg_sys::Datum::from(if self.is_update() {
                (*self.data).tg_newtuple
            } else {
                (*self.data).tg_trigtuple
            })
        }
    }

    /// Errors: the trigger fires BEFORE or AFTER the event, and the action needs the other (39P01).
    pub fn check_timing(&self, options: &GuardOptions) -> Result<()> {
        let action = options.action;
        let wanted = if action.is_before() {
            (
                pg_sys::TRIGGER_EVENT_BEFORE,
                "BEFORE",
                "reject, warn or flag.",
            )
        } else {
            (pg_sys::TRIGGER_EVENT_AFTER, "AFTER", "skip.")
        };
        let (timing, name, others) = wanted;
        if self.event() & pg_sys::TRIGGER_EVENT_TIMINGMASK == timing {
            return Ok(());
        }
        Err(protocol_violated(words!(
            "action {} of bloom_guard needs a trigger fired {} the event",
            action.name(),
            name
        ))
        .hint(words!(
            "Create trigger \"{}\" with {} INSERT OR UPDATE, or take action {}",
            self.trigger_name(),
            name,
            others
        )))
    }
}
