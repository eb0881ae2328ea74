//! A bound on the memory of functions that hold all their data in memory: `maintenance_work_mem`. Above it they fail.

use base::Error;
use pgrx::{pg_sys, PgSqlErrorCode};

use crate::error::{raise, sql_error};

/// The bytes that a function may use.
#[derive(Clone, Copy)]
pub struct Budget {
    bytes: usize,
}

impl Budget {
    /// What `maintenance_work_mem` allows.
    pub fn of_setting() -> Budget {
        // SAFETY: a setting.
        let kilobytes = unsafe { pg_sys::maintenance_work_mem } as usize;
        Budget {
            bytes: kilobytes * 1024,
        }
    }

    /// The bound.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Errors: `needed` bytes are more than there are, for pairs and records that are being read.
    pub fn check(self, needed: usize, describe: impl FnOnce() -> String) {
        if needed > self.bytes {
            raise(
                &self
                    .exceeded("pairs and records", needed, &describe())
                    .hint(
                    "Raise maintenance_work_mem, or give fewer pairs, as a higher threshold finds.",
                ),
            );
        }
    }

    /// Errors: `needed` bytes are more than there are, for some things of which no more will come.
    pub fn check_all(self, needed: usize, things: &str, describe: impl FnOnce() -> String) {
        const MB: usize = 1 << 20;
        if needed > self.bytes {
            raise(&self.exceeded(things, needed, &describe()).hint(format!(
                "Set maintenance_work_mem to {} MB or more.",
                needed.div_ceil(MB)
            )));
        }
    }

    fn exceeded(self, things: &str, needed: usize, described: &str) -> Error {
        sql_error(
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            format!("{things} do not fit into maintenance_work_mem"),
        )
        .detail(format!(
            "At least {} kB are needed for {described}; the setting is {} kB.",
            needed.div_ceil(1024),
            self.bytes / 1024
        ))
    }
}

/// Appends a value; the vector grows by half.
///
/// Errors: out of memory.
pub fn push<T>(to: &mut Vec<T>, value: T) {
    if to.len() == to.capacity() {
        reserve(to, (to.len() / 2).max(64));
    }
    to.push(value);
}

/// Errors: out of memory.
pub fn reserve<T>(of: &mut Vec<T>, more: usize) {
    if of.try_reserve_exact(more).is_err() {
        raise(&Error::out_of_memory(more.saturating_mul(size_of::<T>())));
    }
}
