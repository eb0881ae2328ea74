//! Preparing the guard of a trigger when the trigger first fires in a session.

use base::{Error, ErrorKind, Result};
use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use super::call::TriggerCall;
use crate::guard::actions::keep;
use crate::guard::options::GuardOptions;
use crate::guard::prepared::{GuardedTable, PreparedGuard};
use pg::ffi;
use pg::message::words;

/// Errors: as for [`GuardOptions::parse`], [`GuardedTable::of`] and [`PreparedGuard::of`]; the trigger fires BEFORE or
/// AFTER the event and the action needs the other, or the option `keep` and it does not fire for UPDATE (39P01); action
/// `flag`, and the table has no primary key (42704).
pub fn prepare(call: &TriggerCall) -> Result<PreparedGuard> {
    let options = GuardOptions::parse(&call.args())?;
    call.check_timing(&options)?;
    keep::check_event(call, options.keep)?;
    let trigger = call.trigger_name();
    let prepared = (|| {
        let own = GuardedTable::of(call.table(), &options)?;
        own.need_key(call.table(), &options)?;
        PreparedGuard::of(options, call.table(), own, topmost(call), &trigger)
    })();
    prepared.map_err(|error| if_renamed(error, &trigger))
}

/// Adds to the error about a column that is not there which trigger has named it: whoever enters a row has not.
fn if_renamed(error: Error, trigger: &CStr) -> Error {
    let undefined = ErrorKind::State(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN as i32);
    if error.kind() != undefined || error.hint_text().is_some() {
        return error;
    }
    error
        .detail(words!(
            "It is named in the arguments of trigger \"{}\".",
            trigger
        ))
        .hint("If the column was renamed or dropped, drop the trigger, and create it again.")
}

/// The table whose trigger the partitions' triggers were made from; without partitions, the trigger's table.
fn topmost(call: &TriggerCall) -> pg_sys::Oid {
    let mut table = call.table();
    if !call.trigger().tgisclone {
        return table;
    }
    let mut trigger = call.trigger().tgoid;
    // SAFETY: pg_trigger is open as long as it is scanned, by its index on the OID. Its rows are of type
    // FormData_pg_trigger, and a row is valid until the end of the scan.
    unsafe {
        let lock = pg_sys::AccessShareLock as i32;
        let catalog = ffi::table_open(pg_sys::TriggerRelationId, lock);
        while trigger != pg_sys::InvalidOid {
            let mut key = pg_sys::ScanKeyData::default();
            pg_sys::ScanKeyInit(
                &mut key,
                pg_sys::Anum_pg_trigger_oid as i16,
                pg_sys::BTEqualStrategyNumber as u16,
                pg_sys::F_OIDEQ.into(),
                pg_sys::Datum::from(trigger),
            );
            let scan = pg_sys::systable_beginscan(
                catalog,
                pg_sys::TriggerOidIndexId.into(),
                true,
                std::ptr::null_mut(),
                1,
                &mut key,
            );
            let row = pg_sys::systable_getnext(scan);
            if row.is_null() {
                trigger = pg_sys::InvalidOid;
            } else {
                let form: *const pg_sys::FormData_pg_trigger = pg_sys::GETSTRUCT(row).cast();
                table = (*form).tgrelid;
                trigger = (*form).tgparentid;
            }
            pg_sys::systable_endscan(scan);
        }
        pg_sys::table_close(catalog, lock);
    }
    table
}
