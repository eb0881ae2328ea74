//! What the view `bloom_progress` shows: how far the jobs of all sessions are. And what a session keeps between calls,
//! for tests.

use pgrx::{pg_sys, IntoDatum};

use pg::entry;
use pg::function::rows::{text_datum, ResultRows};
use pg::progress::jobs;
use pg::session_state;
use pg::values::varlena::NewValue;

/// `() RETURNS TABLE (pid integer, datid oid, relid oid, job text, phase text, done bigint, total bigint, started
/// timestamptz, phase_started timestamptz)`
#[entry(stable, parallel_restricted)]
fn bloom_progress_info(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    for job in jobs() {
        let details = job.details.as_ref();
        let time = |at: i64| pg_sys::Datum::from(at as usize);
        rows.put([
            job.pid.into_datum(),
            job.database.into_datum(),
            details.and_then(|job| job.relation.into_datum()),
            details.map(|job| text_datum(job.job.as_bytes())),
            details.map(|job| text_datum(job.phase.as_bytes())),
            details.and_then(|job| job.done.into_datum()),
            details.and_then(|job| job.total.into_datum()),
            details.map(|job| time(job.started[0])),
            details.map(|job| time(job.started[1])),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}

/// `() RETURNS TABLE (name text, key text, until text, bytes bigint)`
///
/// Only tests declare it.
#[entry(volatile, parallel_unsafe)]
fn test_session_state(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    for entry in session_state::entries() {
        let text = |text: &str| Some(text_datum(text.as_bytes()));
        rows.put([
            text(entry.name),
            text(entry.key),
            text(entry.until),
            ((entry.bytes)() as i64).into_datum(),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}
