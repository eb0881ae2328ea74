//! The server's slots for progress. For each session it keeps the number of a command, a relation and 20 numbers in
//! shared memory, and forgets the command when a transaction or a subtransaction is aborted. Its own views ask for the
//! commands that they know, so that they show no other one. Names are written as bytes and not as numbers of a list, so
//! that sessions with several versions of the library understand each other.

use pgrx::pg_sys;

/// The number of our command, "blom" in ASCII. The server counts its commands from 1 and has come to some seven of them
/// since version 9.6, so it will not get here, and other extensions that count on from there will not either.
pub const COMMAND: pg_sys::ProgressCommandType::Type = 0x626c_6f6d;

/// Nothing is running.
pub const NO_COMMAND: pg_sys::ProgressCommandType::Type =
    pg_sys::ProgressCommandType::PROGRESS_COMMAND_INVALID;

/// What is in the first slot, "progress" in ASCII: who else took the same number for a command does not write this.
pub const MARK: i64 = 0x7072_6f67_7265_7373;

/// Slots for a name.
pub const NAME: usize = 4;

/// Bytes that a name can have.
pub const NAME_BYTES: usize = NAME * size_of::<i64>();

/// What is in which slot.
pub mod slot {
    use super::NAME;

    pub const MARK: usize = 0;
    /// When the job and when its phase have begun, as the server counts time.
    pub const STARTED: usize = 1;
    pub const PHASE_STARTED: usize = 2;
    pub const DONE: usize = 3;
    /// -1 if it is not known.
    pub const TOTAL: usize = 4;
    pub const JOB: usize = 5;
    pub const PHASE: usize = JOB + NAME;
    pub const USED: usize = PHASE + NAME;
}

pub const SLOTS: usize = pg_sys::PGSTAT_NUM_PROGRESS_PARAM as usize;
const _: () = assert!(slot::USED <= SLOTS);

/// What the slots of a session hold.
#[derive(Clone, Copy)]
pub struct Slots {
    pub command: pg_sys::ProgressCommandType::Type,
    pub relation: pg_sys::Oid,
    pub values: [i64; SLOTS],
}

impl Slots {
    pub fn new(entry: &pg_sys::PgBackendStatus) -> Slots {
        Slots {
            command: entry.st_progress_command,
            relation: entry.st_progress_command_target,
            values: entry.st_progress_param,
        }
    }

    /// Those of this session; `None` for a process that has none.
    pub fn current() -> Option<Slots> {
        // SAFETY: the pointer is null or to this session's entry, which only this process writes.
        unsafe { pg_sys::MyBEEntry.as_ref() }.map(Slots::new)
    }

    /// Begins the command, and writes all slots.
    pub fn write(&self) {
        let numbers: [i32; SLOTS] = std::array::from_fn(|i| i as i32);
        // SAFETY: as many values as numbers of slots.
        unsafe {
            pg_sys::pgstat_progress_start_command(self.command, self.relation);
            pg_sys::pgstat_progress_update_multi_param(
                SLOTS as i32,
                numbers.as_ptr(),
                self.values.as_ptr(),
            );
        }
    }

    /// Ends the command.
    pub fn clear() {
        // SAFETY: it changes this session's entry only.
        unsafe { pg_sys::pgstat_progress_end_command() };
    }
}

/// A name as it is in slots.
pub fn name_values(name: &str) -> [i64; NAME] {
    let bytes = name.as_bytes();
    std::array::from_fn(|i| {
        let at = |k| bytes.get(size_of::<i64>() * i + k).copied().unwrap_or(0);
        i64::from_le_bytes(std::array::from_fn(at))
    })
}

/// The name that slots hold; `None` if they hold none.
pub fn name_of(values: &[i64]) -> Option<String> {
    let bytes = values.iter().flat_map(|word| word.to_le_bytes());
    let name: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
    let is_name = name.iter().all(|byte| (b' '..=b'~').contains(byte));
    is_name.then(|| String::from_utf8_lossy(&name).into_owned())
}
