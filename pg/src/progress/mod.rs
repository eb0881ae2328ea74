//! How far a long job is: in the server's own slots for progress, which the view `bloom_progress` shows, and as a
//! NOTICE from time to time.

mod jobs;
pub mod phases;
mod slots;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pgrx::pg_sys;

use slots::{name_values, slot, Slots, COMMAND, MARK, NAME, NAME_BYTES, NO_COMMAND, SLOTS};

pub use jobs::jobs;

/// The least time between two notices.
const INTERVAL: Duration = Duration::from_secs(5);

/// Tells how far a long search is.
pub struct Progress {
    name: &'static str,
    last: Instant,
}

impl Progress {
    /// Of a search that begins now; its name stands before each notice.
    pub fn new(name: &'static str) -> Progress {
        Progress {
            name,
            last: Instant::now(),
        }
    }

    /// Says what `describe` gives, if nothing was said for some seconds.
    pub fn report(&mut self, describe: impl FnOnce() -> String) {
        if self.last.elapsed() >= INTERVAL {
            self.last = Instant::now();
            crate::error::notice!("{}: {}", self.name, describe());
        }
    }
}

/// Single steps are written after so many.
const STEPS: u64 = 1024;

/// What is done is written in so many parts of the whole.
const PARTS: u64 = 1024;

/// What a job is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JobPhase {
    name: &'static str,
    /// The rows of a query are what is counted.
    of_rows: bool,
}

impl JobPhase {
    /// A phase in which something is counted.
    pub const fn new(name: &'static str) -> JobPhase {
        assert!(name.len() <= NAME_BYTES && name.is_ascii());
        JobPhase {
            name,
            of_rows: false,
        }
    }

    /// A phase in which the rows of queries are counted.
    pub const fn of_rows(name: &'static str) -> JobPhase {
        let JobPhase { name, .. } = JobPhase::new(name);
        JobPhase {
            name,
            of_rows: true,
        }
    }
}

const STARTING: JobPhase = JobPhase::new("starting");

/// The job that is running.
struct CurrentJob {
    slots: Slots,
    phase: JobPhase,
    /// Steps of the phase since it began, of which not each is written.
    steps: u64,
}

pg::session_state! {
    static RUNNING: RefCell<Option<CurrentJob>> = RefCell::default();
    "running job" by "the only one" until "it ends";
    /// How many calls are running that may run code of users, or another job: what these do is no progress of this one.
    static HELD: Cell<u32> = Cell::default();
    "calls within the job" by "the running job" until "they return";
}

fn now() -> i64 {
    // SAFETY: it reads the clock.
    unsafe { pg_sys::GetCurrentTimestamp() }
}

/// Changes what is known of the job. Does nothing without one, and in code of users.
fn change(with: impl FnOnce(&mut CurrentJob)) {
    if HELD.get() == 0 {
        RUNNING.with_borrow_mut(|running| running.as_mut().map(with));
    }
}

impl CurrentJob {
    /// Writes how much is done, and everything if another command had the slots meanwhile.
    fn write_done(&mut self, done: u64) {
        self.slots.values[slot::DONE] = i64::try_from(done).unwrap_or(i64::MAX);
        // SAFETY: the pointer is null or to this session's entry, which only this process writes.
        let entry = unsafe { pg_sys::MyBEEntry.as_ref() };
        if entry.is_none_or(|entry| entry.st_progress_command != COMMAND) {
            return self.slots.write();
        }
        // SAFETY: it is the number of a slot.
        unsafe {
            pg_sys::pgstat_progress_update_param(slot::DONE as i32, self.slots.values[slot::DONE]);
        }
    }

    fn begin(&mut self, phase: JobPhase, total: Option<u64>) {
        self.phase = phase;
        self.steps = 0;
        let values = &mut self.slots.values;
        values[slot::DONE] = 0;
        values[slot::TOTAL] = total.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
        values[slot::PHASE_STARTED] = now();
        values[slot::PHASE..][..NAME].copy_from_slice(&name_values(phase.name));
        self.slots.write();
    }
}

/// A job, until it is dropped: by then the slots are as they were before it, as another command may need them, such as
/// COPY of a query.
#[must_use]
pub struct RunningJob {
    before: Option<Slots>,
    is_within: bool,
}

/// Begins a job over a relation; its name has 32 bytes at most. A job within another one is not shown, since the outer
/// one is what somebody waits for.
pub fn job(name: &'static str, relation: pg_sys::Oid) -> RunningJob {
    let is_within = RUNNING.with_borrow(Option::is_some);
    if is_within {
        HELD.set(HELD.get() + 1);
        return RunningJob {
            before: None,
            is_within,
        };
    }
    let before = Slots::current();
    let mut values = [0; SLOTS];
    values[slot::MARK] = MARK;
    values[slot::STARTED] = now();
    values[slot::JOB..][..NAME].copy_from_slice(&name_values(name));
    let mut running = CurrentJob {
        slots: Slots {
            command: COMMAND,
            relation,
            values,
        },
        phase: STARTING,
        steps: 0,
    };
    running.begin(STARTING, None);
    RUNNING.set(Some(running));
    RunningJob { before, is_within }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        if self.is_within {
            HELD.set(HELD.get() - 1);
            return;
        }
        RUNNING.set(None);
        let is_ours = Slots::current().is_some_and(|now| now.command == COMMAND);
        match self.before {
            Some(before) if before.command != NO_COMMAND => before.write(),
            _ if is_ours => Slots::clear(),
            _ => (),
        }
    }
}

/// The job that is running begins a phase of so many steps, if that is known. A phase that reads one relation after the
/// other goes on.
pub fn phase(phase: JobPhase, total: Option<u64>) {
    change(|running| {
        if !phase.of_rows || phase != running.phase {
            running.begin(phase, total);
        }
    });
}

/// So many steps of the phase are done.
pub fn done(steps: u64) {
    change(|running| running.write_done(steps));
}

/// So many of so many steps are done, where both come to light while a phase runs. It is written about a thousand
/// times.
pub fn done_of(steps: u64, total: u64) {
    change(|running| {
        let all = i64::try_from(total).unwrap_or(i64::MAX);
        if std::mem::replace(&mut running.slots.values[slot::TOTAL], all) != all {
            running.slots.write();
        } else if steps.saturating_sub(running.steps) <= total / PARTS {
            return;
        }
        running.steps = steps;
        running.write_done(steps);
    });
}

/// One more step of the phase is done. It costs next to nothing, so that loops may call it for every pair.
#[inline]
pub fn step() {
    change(|running| {
        running.steps += 1;
        if running.steps % STEPS == 0 {
            running.write_done(running.steps);
        }
    });
}

/// The next query of a phase that counts rows will give so many, as the planner expects, besides those that were
/// counted before.
pub fn expect_rows(rows: f64) {
    change(|running| {
        if running.phase.of_rows && rows.is_finite() {
            running.slots.values[slot::TOTAL] = running.steps as i64 + rows.max(1.0) as i64;
            running.slots.write();
        }
    });
}

/// So many rows more were read.
pub fn rows(more: u64) {
    change(|running| {
        if running.phase.of_rows {
            running.steps += more;
            running.write_done(running.steps);
        }
    });
}

/// Calls what may run code of users, which may run jobs and commands of its own.
pub fn hold_while<T>(call: impl FnOnce() -> T) -> T {
    /// Ends the call after an error, too.
    struct Held;

    impl Drop for Held {
        fn drop(&mut self) {
            HELD.set(HELD.get() - 1);
        }
    }

    HELD.set(HELD.get() + 1);
    let _held = Held;
    call()
}
