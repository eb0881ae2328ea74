//! What the processes of a fit share: the patterns, and the round that is going on.

use std::mem::size_of;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::SeqCst};

use base::{Error, ErrorKind};
use linkage::model::mixture::{KnownPairs, Step, StepSize};
use linkage::model::Pattern;
use pgrx::{pg_sys, PgSqlErrorCode};

use pg::error::raise_as;
use pg::{check_for_interrupts, ffi};

/// What processes share begins with this, and a worker compares it before it reads anything else: it may have loaded another library than its leader.
/// Every change of [`FitShared`] or of what lies beside it raises the first number; the second is the size of [`FitShared`] in bytes.
pub type FitLayout = [u32; 2];

pub const OURS: FitLayout = [1, size_of::<FitShared>() as u32];

/// What all processes of a fit know.
#[repr(C)]
pub struct FitShared {
    /// Stays the first field.
    pub layout: FitLayout,
    pub patterns: u64,
    pub fields: u32,
    pub classes: AtomicU32,
    pub leader: *mut pg_sys::PGPROC,
    /// The round in the upper half, and the next chunk of it that nobody has in the lower half.
    pub turn: AtomicU64,
    /// Chunks of the round that are done.
    pub done: AtomicU32,
}

/// The last round: workers end.
pub const END: u64 = u32::MAX as u64;

/// A pattern in two halves, the upper one first; the bits of its pairs and of the logarithm of the expected random pairs; 0 without a label, 1 for a pair
/// that is none, 2 for a match.
pub type SharedPattern = [u64; 5];

pub mod key {
    pub const SHARED: u64 = 1;
    pub const PATTERNS: u64 = 2;
    pub const CLASSES: u64 = 3;
    pub const RESULTS: u64 = 4;
    pub const WORKERS: u64 = 5;
}

/// Looks at a variable before a process goes to sleep: a round may take less time than to wake up.
const LOOKS: u32 = 4000;

/// Where what is shared lies, with room for so much.
#[derive(Clone, Copy)]
pub struct Places {
    pub shared: *const FitShared,
    pub patterns: *mut SharedPattern,
    pub classes: *mut f64,
    pub results: *mut f64,
    pub workers: *const AtomicPtr<pg_sys::PGPROC>,
}

impl Places {
    /// What all processes know.
    pub fn shared(&self) -> &FitShared {
        // SAFETY: it lives as long as the segment, which a process uses until the job ends; what changes is atomic.
        unsafe { &*self.shared }
    }

    /// The next chunk of a round; `None` if there is none left, or the round is over.
    fn claim(&self, round: u64, chunks: usize) -> Option<usize> {
        let turn = &self.shared().turn;
        let more = |turn: u64| {
            let is_left = turn >> 32 == round && ((turn & END) as usize) < chunks;
            is_left.then_some(turn + 1)
        };
        let before = turn.fetch_update(SeqCst, SeqCst, more).ok()?;
        Some((before & END) as usize)
    }

    /// Does what is left of a round. Returns whether this process has done the last chunk of it.
    pub fn work(&self, round: u64, size: StepSize) -> bool {
        let Some(mut chunk) = self.claim(round, size.chunks()) else {
            return false;
        };
        // SAFETY: a chunk of the round is this process's, so the round is not over before it is done: until then nobody writes the classes or the patterns,
        // and this process alone writes the chunk's result. All lie within what has been allocated for them.
        let (classes, patterns) = unsafe {
            (
                std::slice::from_raw_parts(self.classes, size.result() - 1),
                std::slice::from_raw_parts(self.patterns, size.patterns),
            )
        };
        let mut step = Step::new(size, classes);
        loop {
            check_for_interrupts();
            let begin = chunk * size.chunk();
            for pattern in &patterns[begin..(begin + size.chunk()).min(size.patterns)] {
                let (known, random) = read(pattern);
                step.add(known, random);
            }
            // SAFETY: as above.
            let result = unsafe {
                std::slice::from_raw_parts_mut(
                    self.results.add(chunk * size.result()),
                    size.result(),
                )
            };
            step.take(result);
            let done = self.shared().done.fetch_add(1, SeqCst) + 1;
            if done as usize == size.chunks() {
                return true;
            }
            match self.claim(round, size.chunks()) {
                Some(next) => chunk = next,
                None => return false,
            }
        }
    }
}

/// A pattern as it is shared.
pub fn write(known: KnownPairs, random: f64) -> SharedPattern {
    [
        (known.pattern.0 >> 64) as u64,
        known.pattern.0 as u64,
        known.pairs.to_bits(),
        random.to_bits(),
        match known.label {
            None => 0,
            Some(same) => 1 + u64::from(same),
        },
    ]
}

fn read(&[high, low, pairs, random, label]: &SharedPattern) -> (KnownPairs, f64) {
    let known = KnownPairs {
        pattern: Pattern(u128::from(high) << 64 | u128::from(low)),
        pairs: f64::from_bits(pairs),
        label: (label > 0).then_some(label > 1),
    };
    (known, f64::from_bits(random))
}

/// Waits for the latch of this process, and resets it. Other processes set it when there is something to see.
fn sleep() {
    // SAFETY: a latch of this process.
    unsafe {
        let events = pg_sys::WL_LATCH_SET | pg_sys::WL_EXIT_ON_PM_DEATH;
        ffi::WaitLatch(
            pg_sys::MyLatch,
            events as i32,
            -1,
            pg_sys::PG_WAIT_EXTENSION,
        );
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts();
}

/// Waits until `is_true`.
pub fn wait(mut is_true: impl FnMut() -> bool) {
    for _ in 0..LOOKS {
        if is_true() {
            return;
        }
        std::hint::spin_loop();
    }
    while !is_true() {
        sleep();
    }
}

/// Wakes a process that [`wait`]s.
///
/// # Safety
/// `process` is one of the server's, or none.
pub unsafe fn wake(process: *mut pg_sys::PGPROC) {
    if !process.is_null() {
        // SAFETY: the server's processes have their places for ever; to wake another one by mistake does no harm.
        unsafe { pg_sys::SetLatch(&raw mut (*process).procLatch) };
    }
}

/// Errors: the leader's layout is another one.
pub fn check(layout: FitLayout) {
    if layout != OURS {
        raise_as(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            &Error::new(
                ErrorKind::InvalidParameter,
                "parallel worker has loaded another version of bloom_ident than its leader",
            )
            .detail(format!(
                "The leader shares a fit in layout {layout:?}, the worker reads layout {OURS:?}."
            ))
            .hint("Reconnect, so that the session loads the installed library too."),
        );
    }
}
