//! How often a secret was used, counted whatever becomes of the transaction: who encodes a dictionary and rolls back is
//! counted, too.
//!
//! The number stands in the secret's row, at a fixed place, and is changed there as a sequence's is, which has no versions.
//! A session counts some uses ahead, as a sequence caches numbers: the number is never too low.

use std::ffi::CString;

use pg::error::{raise, sql_error};
use pg::in_place::change_in_place;
use pg::key_table::KeyTable;
use pg::message::words;
use pg::relation::OpenRelation;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{ERRCODE_READ_ONLY_SQL_TRANSACTION, ERRCODE_T_R_SERIALIZATION_FAILURE};

use super::secrets::KnownSecret;
use super::tables::SecretTables;

/// Where the number is in the data of a row: behind the name.
const AT: usize = pg_sys::NAMEDATALEN as usize;

/// Uses that are counted at once, at first and at most.
const FIRST: u32 = 64;
const MOST: u32 = 1 << 14;

/// Uses that are counted already and not made yet.
#[derive(Default)]
pub struct CountedUses {
    left: u32,
    last: u32,
}

impl CountedUses {
    /// Counts one use of a secret whose row is at `tid`, which is set if it is elsewhere by now. `Some` if that was written
    /// down, with the number of uses.
    ///
    /// Errors: the server is in recovery; the secret is not there any more.
    pub fn count(
        &mut self,
        tables: &SecretTables,
        secret: &KnownSecret,
        tid: &mut pg_sys::ItemPointerData,
    ) -> Option<u32> {
        if self.left > 0 {
            self.left -= 1;
            return None;
        }
        let (values, name) = (&tables.values, &secret.name);
        let ahead = (2 * self.last).clamp(FIRST, MOST);
        if !add(values, *tid, name, ahead) {
            // The table may have been rewritten.
            *tid = tables.value(secret).1;
            if !add(values, *tid, name, ahead) {
                raise(&sql_error(
                    ERRCODE_T_R_SERIALIZATION_FAILURE,
                    words!("could not count the use of secret \"{name}\""),
                ));
            }
        }
        (self.left, self.last) = (ahead - 1, ahead);
        Some(ahead)
    }
}

/// Adds to the number in the row at a tid. Whether it is that of the secret.
fn add(values: &KeyTable, tid: pg_sys::ItemPointerData, name: &CString, uses: u32) -> bool {
    // SAFETY: a state of the server is asked for.
    if unsafe { pg_sys::RecoveryInProgress() } {
        raise(
            &sql_error(
                ERRCODE_READ_ONLY_SQL_TRANSACTION,
                words!("cannot use secret \"{name}\" during recovery"),
            )
            .detail("Its uses are counted, and a standby cannot write."),
        );
    }
    let table = OpenRelation::table(values.oid, pg_sys::RowExclusiveLock);
    // The row may be another one's by now.
    let add = |row: &mut [u8]| {
        let Some((of_name, rest)) = row.split_at_mut_checked(AT) else {
            return false;
        };
        let written = of_name.split(|&byte| byte == 0).next();
        let is_it = written == Some(name.as_bytes());
        let Some(number) = rest.first_chunk_mut().filter(|_| is_it) else {
            return false;
        };
        let sum = i64::from_ne_bytes(*number).saturating_add(uses.into());
        *number = sum.to_ne_bytes();
        true
    };
    // SAFETY: the table is open and locked against those who rewrite it, and its rows begin with a name and a number, which
    // are never NULL; its index is on the name.
    unsafe { change_in_place(table.pointer(), tid, add) }
}
