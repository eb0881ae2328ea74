//! Two sessions at once.
//!
//! Whoever joins or parts records takes a lock for the register's entities, which it has until its transaction ends, so
//! that the next one sees what it has done. A record that makes no pair with any other, whether committed or not, is
//! entered without that lock: this is what most records are, and they do not wait for each other.
//!
//! Then a transaction that has the lock may come upon a record of another one that has not ended. There are three
//! cases:
//! - The other one has not looked for pairs yet, or is at it. It says so by a lock on the record, its claim, which it
//!   takes before anybody can see the record's keys, and has only for that moment: the first one waits for that.
//! - The other one has found pairs, and waits for the lock. It says so by another lock on the record, and will look once
//!   more, and see what the first one has done. So the first one leaves the record to it.
//! - The other one has entered the record by itself. It will not look again, so the first one waits for its end. If that
//!   one waits for the first one because of other records of its own, the first one gives up: this is a deadlock.
//!
//! At most two locks of records are held at a time, whatever a statement changes.

use base::{Error, Result};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED;
use twox_hash::XxHash3_64;

use super::super::stored::Register;
use super::neighbours::{inserter, pending, Loaded, Pending};
use pg::error::sql_error;
use pg::ffi;
use pg::message::words;
use pg::waiting::{wait_for, PendingTransaction};

/// What a lock of this kind says, in the last field of its tag. PostgreSQL's own advisory locks have 1 and 2 there.
#[derive(Clone, Copy)]
enum Kind {
    /// Entities are joined or parted.
    Join = 0x4249,
    /// A record is entered, and pairs of it are looked for.
    Claim = 0x424A,
    /// A record with pairs waits for [`Kind::Join`].
    Wait = 0x424B,
}

/// A lock on a record, or on all entities of a register.
struct Lock(pg_sys::LOCKTAG);

impl Lock {
    fn new(register: &Register, kind: Kind, record: &[u8]) -> Lock {
        let hash = XxHash3_64::oneshot(record);
        Lock(pg_sys::LOCKTAG {
            // SAFETY: a variable of the server.
            locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field2: register.oid.to_u32() ^ (hash >> 32) as u32,
            locktag_field3: hash as u32,
            locktag_field4: kind as u16,
            locktag_type: pg_sys::LockTagType::LOCKTAG_ADVISORY as u8,
            locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
        })
    }

    /// Another one on the same record.
    fn of_kind(&self, kind: Kind) -> Lock {
        Lock(pg_sys::LOCKTAG {
            locktag_field4: kind as u16,
            ..self.0
        })
    }

    /// Takes the lock until the end of the transaction, or until it is released.
    fn take(&self, mode: u32) {
        // SAFETY: a complete tag. The server waits, or raises an error.
        unsafe { ffi::LockAcquire(&self.0, mode as i32, false, false) };
    }

    /// Whether nobody else has it now.
    fn is_free(&self) -> bool {
        let mode = pg_sys::ShareLock as i32;
        // SAFETY: as above, without waiting.
        unsafe {
            let taken = ffi::LockAcquire(&self.0, mode, false, true);
            let is_free = taken != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL;
            if is_free {
                ffi::LockRelease(&self.0, mode, false);
            }
            is_free
        }
    }

    fn release(&self, mode: u32) {
        // SAFETY: it was taken in this mode.
        unsafe { ffi::LockRelease(&self.0, mode as i32, false) };
    }

    fn is_held(&self) -> bool {
        let mode = pg_sys::ExclusiveLock as i32;
        // SAFETY: a complete tag.
        unsafe {
            #[cfg(any(feature = "pg15", feature = "pg16"))]
            return ffi::LockHeldByMe(&self.0, mode);
            #[cfg(not(any(feature = "pg15", feature = "pg16")))]
            return ffi::LockHeldByMe(&self.0, mode, false);
        }
    }
}

/// Takes the lock for joining and parting entities of a register.
pub fn join(register: &Register) {
    let lock = Lock::new(register, Kind::Join, &[]);
    if !lock.is_held() {
        lock.take(pg_sys::ExclusiveLock);
    }
}

/// A record that is being entered.
pub struct Entering<'r> {
    register: &'r Register,
    claim: Option<Lock>,
    wait: Option<Lock>,
}

impl<'r> Entering<'r> {
    /// To be called before the record's keys are there.
    pub fn begin(register: &'r Register, record: &[u8]) -> Entering<'r> {
        let has_turn = Lock::new(register, Kind::Join, &[]).is_held();
        let claim = (!has_turn).then(|| Lock::new(register, Kind::Claim, record));
        if let Some(claim) = &claim {
            claim.take(pg_sys::ExclusiveLock);
        }
        Entering {
            register,
            claim,
            wait: None,
        }
    }

    /// Whether the record may be entered by itself: it makes no pair. If not, this transaction has the lock afterwards,
    /// and all records that it must see are there.
    ///
    /// Errors: a deadlock; those of reading values.
    pub fn is_alone(&mut self, own: &[u8], record: &Loaded, least: f64) -> Result<bool> {
        if self.claim.is_some() && !pending(self.register, own, record, least)?.0 {
            return Ok(true);
        }
        self.join();
        await_others(self.register, own, record, least)?;
        Ok(false)
    }

    /// Takes the lock for joining and parting, and says meanwhile that the record will be looked at again.
    pub fn join(&mut self) {
        if let Some(claim) = self.claim.take() {
            let wait = claim.of_kind(Kind::Wait);
            wait.take(pg_sys::ExclusiveLock);
            self.wait = Some(wait);
            claim.release(pg_sys::ExclusiveLock);
        }
        join(self.register);
    }

    /// The record has its entity.
    pub fn end(self) {
        let locks = self.claim.into_iter().chain(self.wait);
        locks.for_each(|lock| lock.release(pg_sys::ExclusiveLock));
    }
}

/// Waits for the end of every transaction that has entered a record with which this one makes a pair, and will not look
/// again. This transaction has the lock.
///
/// Errors: a deadlock; those of reading values.
pub fn await_others(register: &Register, own: &[u8], record: &Loaded, least: f64) -> Result<()> {
    loop {
        let (_, undecided) = pending(register, own, record, least)?;
        let mut settled = undecided
            .into_iter()
            .filter(|other| is_settled(register, other));
        let Some(other) = settled.next() else {
            return Ok(());
        };
        drop(settled);
        wait(register, other.transaction)?;
    }
}

/// The same for records about which a decision is made: one that is being entered may not see that.
///
/// Errors: a deadlock.
pub fn await_records(register: &Register, records: &[pg_sys::Datum]) -> Result<()> {
    for &id in records {
        let (bytes, _) = register.identity(id);
        while let Some(transaction) = inserter(register, id) {
            let other = Pending {
                bytes: bytes.clone(),
                transaction,
            };
            if !is_settled(register, &other) {
                break;
            }
            wait(register, transaction)?;
        }
    }
    Ok(())
}

/// Errors: a deadlock.
fn wait(register: &Register, transaction: pg_sys::TransactionId) -> Result<()> {
    let other = PendingTransaction {
        transaction,
        speculative: 0,
    };
    match wait_for(other, None) {
        true => Ok(()),
        false => Err(deadlock(register)),
    }
}

/// Whether the transaction of a record will not look again for pairs of it.
fn is_settled(register: &Register, other: &Pending) -> bool {
    let claim = Lock::new(register, Kind::Claim, &other.bytes);
    claim.take(pg_sys::ShareLock);
    let is_settled = Lock::new(register, Kind::Wait, &other.bytes).is_free();
    claim.release(pg_sys::ShareLock);
    is_settled
}

fn deadlock(register: &Register) -> Error {
    sql_error(
        ERRCODE_T_R_DEADLOCK_DETECTED,
        words!("deadlock detected while entities of table \"{register.relation}\" are joined"),
    )
    .detail(
        "Another transaction has entered a record that is probably the same as one of this transaction, and waits for it.",
    )
    .hint("Repeat the transaction.")
}
