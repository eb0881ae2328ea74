//! What the sessions of the server write to their slots.

use pgrx::pg_sys;

use super::slots::{name_of, slot, Slots, COMMAND, MARK, NAME};

/// pg_read_all_stats.
const ALL_STATISTICS: u32 = pg_sys::ROLE_PG_READ_ALL_STATS;

/// How far a job of some session is.
pub struct JobStatus {
    pub pid: i32,
    pub database: pg_sys::Oid,
    /// `None` if the current user may not see what the session does.
    pub details: Option<JobDetails>,
}

/// What is known of a job.
pub struct JobDetails {
    pub relation: pg_sys::Oid,
    pub job: String,
    pub phase: String,
    pub done: i64,
    pub total: Option<i64>,
    /// When job and phase began.
    pub started: [pg_sys::TimestampTz; 2],
}

/// The jobs of all sessions, as the server's views of progress show commands: somebody else's details only to those who
/// have its role or read all statistics. The server copies what sessions write when it is asked first in a transaction.
pub fn jobs() -> Vec<JobStatus> {
    // SAFETY: a function of the server's over its own copy.
    let sessions = unsafe { pg_sys::pgstat_fetch_stat_numbackends() };
    (1..=sessions).filter_map(job_of_session).collect()
}

fn job_of_session(number: i32) -> Option<JobStatus> {
    // SAFETY: the entry of a number from 1 stays in the server's copy until the end of the transaction; the roles are
    // those of the catalogs.
    unsafe {
        let entry = &session_status(number).as_ref()?.backendStatus;
        let Slots {
            command,
            relation,
            values,
        } = Slots::new(entry);
        if command != COMMAND || values[slot::MARK] != MARK {
            return None;
        }
        let user = pg_sys::GetUserId();
        let is_seen = pg_sys::has_privs_of_role(user, ALL_STATISTICS.into())
            || pg_sys::has_privs_of_role(user, entry.st_userid);
        let details = || {
            Some(JobDetails {
                relation,
                job: name_of(&values[slot::JOB..][..NAME])?,
                phase: name_of(&values[slot::PHASE..][..NAME])?,
                done: values[slot::DONE],
                // more has come than was expected
                total: Some(values[slot::TOTAL]).filter(|&total| total >= values[slot::DONE]),
                started: [values[slot::STARTED], values[slot::PHASE_STARTED]],
            })
        };
        Some(JobStatus {
            pid: entry.st_procpid,
            database: entry.st_databaseid,
            details: if is_seen { details() } else { None },
        })
    }
}

/// What a session tells of itself, by its number from 1 on. Null for a number that is out of range.
///
/// # Safety
/// The result is read before the server copies anew what sessions write.
unsafe fn session_status(number: i32) -> *mut pg_sys::LocalPgBackendStatus {
    // SAFETY: the server checks the number.
    unsafe {
        #[cfg(feature = "pg15")]
        return pg_sys::pgstat_fetch_stat_local_beentry(number);
        #[cfg(not(feature = "pg15"))]
        return pg_sys::pgstat_get_local_beentry_by_index(number);
    }
}
