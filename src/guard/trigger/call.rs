//! What the trigger manager passes, and whether the trigger was declared as the guard needs it.

use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::guard::options::GuardOptions;
use crate::pg::message::{words, Message, Result};

/// A call of the trigger function.
pub struct TriggerCall {
    pub data: *mut pg_sys::TriggerData,
    pub function: *mut pg_sys::FmgrInfo,
}

fn protocol(message: Vec<u8>) -> Box<Message> {
    Message::of(
        PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        message,
    )
}

impl TriggerCall {
    /// Errors: not called for rows, or for other events than INSERT and UPDATE (39P01).
    ///
    /// SAFETY: `fcinfo` is that of the running call.
    pub unsafe fn of(fcinfo: pg_sys::FunctionCallInfo) -> Result<TriggerCall> {
        // SAFETY: as promised by the caller; what is a TriggerData is complete.
        unsafe {
            let data: *mut pg_sys::TriggerData = (*fcinfo).context.cast();
            if data.is_null() || (*data).type_ != pg_sys::NodeTag::T_TriggerData {
                return Err(protocol(words!(
                    "function \"bloom_guard\" was not called by trigger manager"
                )));
            }
            let call = TriggerCall {
                data,
                function: (*fcinfo).flinfo,
            };
            if call.event() & pg_sys::TRIGGER_EVENT_ROW == 0 {
                return Err(protocol(words!(
                    "function \"bloom_guard\" must be fired for each row"
                ))
                .hint(words!("Create the trigger with FOR EACH ROW.")));
            }
            let operation = call.event() & pg_sys::TRIGGER_EVENT_OPMASK;
            if operation != pg_sys::TRIGGER_EVENT_INSERT
                && operation != pg_sys::TRIGGER_EVENT_UPDATE
            {
                return Err(protocol(words!(
                    "function \"bloom_guard\" must be fired for INSERT or UPDATE"
                )));
            }
            if call.event() & pg_sys::TRIGGER_EVENT_TIMINGMASK == pg_sys::TRIGGER_EVENT_INSTEAD {
                return Err(protocol(words!(
                    "function \"bloom_guard\" cannot be fired INSTEAD OF the event"
                ))
                .hint(words!("Create the trigger on the table behind the view.")));
            }
            Ok(call)
        }
    }

    fn event(&self) -> u32 {
        // SAFETY: checked on arrival.
        unsafe { (*self.data).tg_event }
    }

    pub fn is_update(&self) -> bool {
        self.event() & pg_sys::TRIGGER_EVENT_OPMASK == pg_sys::TRIGGER_EVENT_UPDATE
    }

    pub fn relation(&self) -> pg_sys::Relation {
        // SAFETY: checked on arrival.
        unsafe { (*self.data).tg_relation }
    }

    pub fn table(&self) -> pg_sys::Oid {
        // SAFETY: the relation is open.
        unsafe { (*self.relation()).rd_id }
    }

    pub fn trigger(&self) -> &pg_sys::Trigger {
        // SAFETY: checked on arrival.
        unsafe { &*(*self.data).tg_trigger }
    }

    /// Not only for INSERT, nor only for those of some columns, nor on a condition.
    pub fn fires_for_every_update(&self) -> bool {
        let trigger = self.trigger();
        let update = pg_sys::TRIGGER_TYPE_UPDATE as i16;
        trigger.tgtype & update != 0 && trigger.tgnattr == 0 && trigger.tgqual.is_null()
    }

    pub fn trigger_name(&self) -> CString {
        // SAFETY: a trigger has a name.
        unsafe { CStr::from_ptr(self.trigger().tgname) }.to_owned()
    }

    pub fn args(&self) -> Vec<CString> {
        let trigger = self.trigger();
        let arg = |i: usize| {
            // SAFETY: the trigger has so many arguments, C strings.
            unsafe { CStr::from_ptr(*trigger.tgargs.add(i)) }.to_owned()
        };
        (0..trigger.tgnargs as usize).map(arg).collect()
    }

    /// The row as it will be, or is.
    pub fn new_row(&self) -> *mut pg_sys::TupleTableSlot {
        // SAFETY: checked on arrival.
        unsafe {
            if self.is_update() {
                (*self.data).tg_newslot
            } else {
                (*self.data).tg_trigslot
            }
        }
    }

    /// Of an UPDATE, the row as it was.
    pub fn old_row(&self) -> Option<*mut pg_sys::TupleTableSlot> {
        // SAFETY: checked on arrival.
        self.is_update()
            .then(|| unsafe { (*self.data).tg_trigslot })
    }

    /// What a BEFORE trigger returns to let the row go on.
    pub fn go_on(&self) -> pg_sys::Datum {
        // SAFETY: checked on arrival.
        unsafe {
            pg_sys::Datum::from(if self.is_update() {
                (*self.data).tg_newtuple
            } else {
                (*self.data).tg_trigtuple
            })
        }
    }

    /// Errors: BEFORE, AFTER or INSTEAD OF where the action needs another (39P01).
    pub fn check_timing(&self, options: &GuardOptions) -> Result<()> {
        let action = options.action;
        let timing = self.event() & pg_sys::TRIGGER_EVENT_TIMINGMASK;
        let (wanted, name) = if options.is_before() {
            (pg_sys::TRIGGER_EVENT_BEFORE, "BEFORE")
        } else {
            (pg_sys::TRIGGER_EVENT_AFTER, "AFTER")
        };
        if timing == wanted {
            return Ok(());
        }
        Err(protocol(words!(
            "action ",
            action.name(),
            " of bloom_guard needs a trigger fired ",
            name,
            " the event"
        ))
        .hint(words!(
            "Create trigger \"",
            self.trigger_name(),
            "\" with ",
            name,
            " INSERT OR UPDATE, or take action ",
            if options.is_before() {
                "reject, warn or flag."
            } else {
                "skip."
            }
        )))
    }
}
