//! What the trigger manager passes to a trigger function.

use std::ffi::{CStr, CString};
use std::ops::Deref;

use base::{Error, Result};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED;

use crate::error::sql_error;
use crate::message::words;

/// A call of a trigger function.
pub struct TriggerCall {
    /// Complete, and valid as long as the call runs.
    data: *mut pg_sys::TriggerData,
    /// The function as the server keeps it for the statement.
    pub function: *mut pg_sys::FmgrInfo,
}

/// The error of a trigger that was not created as its function needs it (39P01).
pub fn protocol_violated(message: impl Into<base::error::Text>) -> Error {
    sql_error(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message)
}

impl Deref for TriggerCall {
    type Target = pg_sys::TriggerData;

    fn deref(&self) -> &pg_sys::TriggerData {
        // SAFETY: the data is valid as long as the call runs, which this does not outlive.
        unsafe { &*self.data }
    }
}

impl TriggerCall {
    /// The call of a function of this name.
    ///
    /// Errors: it was not called by the trigger manager (39P01).
    ///
    /// # Safety
    /// `fcinfo` is that of a running call, and the result does not outlive the call.
    pub unsafe fn new(fcinfo: pg_sys::FunctionCallInfo, name: &str) -> Result<TriggerCall> {
        // SAFETY: `fcinfo` is that of a running call. Its context is NULL or a node, and a TriggerData node is
        // complete.
        unsafe {
            let data: *mut pg_sys::TriggerData = (*fcinfo).context.cast();
            if data.is_null() || (*data).type_ != pg_sys::NodeTag::T_TriggerData {
                return Err(protocol_violated(words!(
                    "function \"{name}\" was not called by trigger manager"
                )));
            }
            let function = (*fcinfo).flinfo;
            Ok(TriggerCall { data, function })
        }
    }

    /// Whether the trigger fires for each row, and not once for a statement.
    pub fn is_for_rows(&self) -> bool {
        self.tg_event & pg_sys::TRIGGER_EVENT_ROW != 0
    }

    /// What has happened: one of TRIGGER_EVENT_INSERT and the like.
    pub fn event(&self) -> u32 {
        self.tg_event & pg_sys::TRIGGER_EVENT_OPMASK
    }

    /// When the trigger fires: one of TRIGGER_EVENT_BEFORE and the like.
    pub fn timing(&self) -> u32 {
        self.tg_event & pg_sys::TRIGGER_EVENT_TIMINGMASK
    }

    /// Whether the event is an UPDATE.
    pub fn is_update(&self) -> bool {
        self.event() == pg_sys::TRIGGER_EVENT_UPDATE
    }

    /// The OID of the table that the trigger fires for, which is open and locked.
    pub fn table(&self) -> pg_sys::Oid {
        // SAFETY: the trigger manager keeps the relation open as long as the call runs.
        unsafe { (*self.tg_relation).rd_id }
    }

    /// The trigger that has fired.
    pub fn trigger(&self) -> &pg_sys::Trigger {
        // SAFETY: the data is valid as long as the call runs, which this does not outlive, and it always has a trigger.
        unsafe { &*self.tg_trigger }
    }

    /// In the database's encoding.
    pub fn trigger_name(&self) -> CString {
        // SAFETY: a trigger has a name, which is a C string.
        unsafe { CStr::from_ptr(self.trigger().tgname) }.to_owned()
    }

    /// The arguments of the trigger, as CREATE TRIGGER was given them.
    pub fn args(&self) -> Vec<CString> {
        arguments(self.trigger())
    }
}

/// The arguments of a trigger, as CREATE TRIGGER was given them.
pub fn arguments(trigger: &pg_sys::Trigger) -> Vec<CString> {
    let arg = |i: usize| {
        // SAFETY: `i` is below the number of arguments, and each argument is a C string.
        unsafe { CStr::from_ptr(*trigger.tgargs.add(i)) }.to_owned()
    };
    (0..trigger.tgnargs as usize).map(arg).collect()
}
