//! Parallel workers that do steps of expectation with the leader of a fit. The patterns lie in shared memory, in
//! chunks. Each process takes a chunk that nobody has, and writes what the classes get of it to the chunk's place; the
//! leader adds the chunks up in their order. So the sums are the same bit for bit, however many processes there are.

use std::mem::size_of;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::SeqCst};

use linkage::model::mixture::{
    EachPattern, Family, Helpers, KnownPairs, PatternLogs, Step, StepSize,
};
use linkage::model::Pattern;
use pgrx::pg_sys;

use pg::team::{self, Layout, SharedParts, Team};
use pg::{check_for_interrupts, entry};

/// With fewer chunks workers are not worth their start.
const WORTH_IT: usize = 3;

/// Shared memory is scarce in containers.
const MOST_SHARED: usize = 32 << 20;

/// Every change of [`FitShared`], or of what lies beside it, raises the version.
const LAYOUT: Layout = Layout {
    version: 3,
    sizes: [size_of::<FitShared>() as u32, 0, 0],
};

/// What all processes of a fit know.
#[repr(C)]
struct FitShared {
    /// Stays the first field.
    layout: Layout,
    patterns: u64,
    fields: u32,
    classes: AtomicU32,
    /// The number of the class of families, 0 for none, and the personal fields as bits.
    family: AtomicU32,
    personal: AtomicU32,
    leader: *mut pg_sys::PGPROC,
    /// The round in the upper half, and the next chunk of it that nobody has in the lower half.
    turn: AtomicU64,
    /// Chunks of the round that are done.
    done: AtomicU32,
}

/// The last round: workers end.
const END: u64 = u32::MAX as u64;

/// A pattern in two halves, the upper one first; the bits of its pairs and of its logarithms, that of random pairs first;
/// 0 without a label, 1 for a pair that is none, 2 for a match.
type SharedPattern = [u64; 6];

/// The parts of what is shared.
mod part {
    pub const SHARED: usize = 0;
    pub const PATTERNS: usize = 1;
    pub const CLASSES: usize = 2;
    pub const RESULTS: usize = 3;
    pub const WORKERS: usize = 4;
}

/// Looks at a variable before a process goes to sleep: a round may take less time than to wake up.
const LOOKS: u32 = 4000;

/// Where what is shared lies, with room for so much.
#[derive(Clone, Copy)]
struct Places {
    shared: *const FitShared,
    patterns: *mut SharedPattern,
    classes: *mut f64,
    results: *mut f64,
    workers: *const AtomicPtr<pg_sys::PGPROC>,
}

impl Places {
    /// `find` says where a part lies.
    fn new(find: impl Fn(usize) -> *mut u8) -> Places {
        Places {
            shared: find(part::SHARED).cast(),
            patterns: find(part::PATTERNS).cast(),
            classes: find(part::CLASSES).cast(),
            results: find(part::RESULTS).cast(),
            workers: find(part::WORKERS).cast(),
        }
    }

    /// What all processes know.
    fn shared(&self) -> &FitShared {
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
    fn work(&self, round: u64, size: StepSize) -> bool {
        let Some(mut chunk) = self.claim(round, size.chunks()) else {
            return false;
        };
        // SAFETY: a chunk of the round is this process's, so the round is not over before it is done: until then nobody
        // writes the classes or the patterns, and this process alone writes the chunk's result. All lie within what has
        // been allocated for them.
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
                let (known, logs) = read(pattern);
                step.add(known, logs);
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
fn write(known: KnownPairs, logs: PatternLogs) -> SharedPattern {
    [
        (known.pattern.0 >> 64) as u64,
        known.pattern.0 as u64,
        known.pairs.to_bits(),
        logs.random.to_bits(),
        logs.matches.to_bits(),
        match known.label {
            None => 0,
            Some(same) => 1 + u64::from(same),
        },
    ]
}

fn read(&[high, low, pairs, random, matches, label]: &SharedPattern) -> (KnownPairs, PatternLogs) {
    let known = KnownPairs {
        pattern: Pattern(u128::from(high) << 64 | u128::from(low)),
        pairs: f64::from_bits(pairs),
        label: (label > 0).then_some(label > 1),
    };
    let logs = PatternLogs {
        random: f64::from_bits(random),
        matches: f64::from_bits(matches),
    };
    (known, logs)
}

/// Waits until `is_true`.
fn wait(mut is_true: impl FnMut() -> bool) {
    for _ in 0..LOOKS {
        if is_true() {
            return;
        }
        std::hint::spin_loop();
    }
    while !is_true() {
        team::sleep();
    }
}

/// Wakes a process that [`wait`]s.
///
/// # Safety
/// `process` is one of the server's, or none.
unsafe fn wake(process: *mut pg_sys::PGPROC) {
    if !process.is_null() {
        // SAFETY: the server's processes have their places for ever; to wake another one by mistake does no harm.
        unsafe { pg_sys::SetLatch(&raw mut (*process).procLatch) };
    }
}

/// The workers of a fit, which start when they are worth it. After an error the end of the transaction stops them.
pub struct FitTeam {
    /// Bytes that may be shared.
    memory: usize,
    running: Option<Running>,
}

struct Running {
    team: Team,
    places: Places,
    workers: usize,
    round: u64,
    /// What there is room for, and what the steps that are done now need.
    room: StepSize,
    size: StepSize,
}

impl FitTeam {
    /// Nobody yet.
    pub fn new(memory: usize) -> FitTeam {
        FitTeam {
            memory,
            running: None,
        }
    }

    /// Sends the workers home.
    ///
    /// Errors: what a worker has failed with.
    pub fn finish(self) {
        if let Some(running) = self.running {
            running.finish();
        }
    }

    /// How many workers may help with steps of this size.
    fn workers(&self, size: StepSize) -> usize {
        let room = self.memory.min(MOST_SHARED);
        if size.chunks() < WORTH_IT || shared_bytes(size) > room {
            return 0;
        }
        team::allowed().min(size.chunks() - 1)
    }
}

/// Bytes of patterns and results.
fn shared_bytes(size: StepSize) -> usize {
    size.patterns * size_of::<SharedPattern>()
        + (size.chunks() + 1) * size.result() * size_of::<f64>()
}

impl Helpers for FitTeam {
    fn begin(&mut self, size: StepSize, each: &mut dyn FnMut(&mut EachPattern<'_>)) -> bool {
        if self.running.is_none() {
            let workers = self.workers(size);
            if workers == 0 {
                return false;
            }
            self.running = Some(Running::start(size, workers));
        }
        let running = self.running.as_mut().expect("it has been started");
        let room = running.room;
        if running.workers == 0
            || size.classes > room.classes
            || (size.patterns, size.fields) != (room.patterns, room.fields)
        {
            return false;
        }
        let mut at = 0;
        each(&mut |known, logs| {
            assert!(at < size.patterns, "there is room for so many patterns");
            // SAFETY: there is room for it, and no round is going on, so nobody reads.
            unsafe { running.places.patterns.add(at).write(write(known, logs)) };
            at += 1;
        });
        running.size = size;
        true
    }

    fn step(&mut self, classes: &[f64], each: &mut dyn FnMut(&[f64])) {
        let running = self.running.as_mut().expect("a step has begun");
        running.step(classes, each);
    }
}

impl Running {
    fn start(room: StepSize, workers: usize) -> Running {
        let result = room.result() * size_of::<f64>();
        let sizes = [
            size_of::<FitShared>(),
            room.patterns * size_of::<SharedPattern>(),
            result,
            room.chunks() * result,
            workers * size_of::<AtomicPtr<pg_sys::PGPROC>>(),
        ];
        let team = Team::new(c"bloom_fit_worker", workers, &sizes);
        let places = Places::new(|part| team.part(part));
        // SAFETY: what is read first is written, to parts that have room for it, before workers start.
        unsafe {
            team.part::<FitShared>(part::SHARED).write(FitShared {
                layout: LAYOUT,
                patterns: room.patterns as u64,
                fields: room.fields as u32,
                classes: AtomicU32::new(0),
                family: AtomicU32::new(0),
                personal: AtomicU32::new(0),
                leader: pg_sys::MyProc,
                turn: AtomicU64::new(0),
                done: AtomicU32::new(0),
            });
            for i in 0..workers {
                let process = team.part::<AtomicPtr<pg_sys::PGPROC>>(part::WORKERS);
                process.add(i).write(AtomicPtr::default());
            }
            team.launch();
        }
        Running {
            workers: team.launched(),
            team,
            places,
            round: 0,
            room,
            size: room,
        }
    }

    fn step(&mut self, classes: &[f64], each: &mut dyn FnMut(&[f64])) {
        let (shared, size) = (self.places.shared(), self.size);
        assert!(classes.len() < self.room.result());
        // SAFETY: there is room for them, and no round is going on, so nobody reads.
        unsafe {
            std::ptr::copy_nonoverlapping(classes.as_ptr(), self.places.classes, classes.len());
        }
        shared.classes.store(size.classes as u32, SeqCst);
        let family = size
            .family
            .map_or((0, 0), |family| (family.class as u32, family.personal));
        shared.family.store(family.0, SeqCst);
        shared.personal.store(family.1, SeqCst);
        shared.done.store(0, SeqCst);
        self.round += 1;
        self.next_round(self.round);
        if !self.places.work(self.round, size) {
            wait(|| shared.done.load(SeqCst) as usize == size.chunks());
        }
        for chunk in 0..size.chunks() {
            // SAFETY: all results are written, and nobody writes before the next round.
            each(unsafe {
                std::slice::from_raw_parts(
                    self.places.results.add(chunk * size.result()),
                    size.result(),
                )
            });
        }
    }

    fn next_round(&self, round: u64) {
        self.places.shared().turn.store(round << 32, SeqCst);
        for i in 0..self.workers {
            // SAFETY: one for each worker; none before the worker has begun.
            unsafe { wake((*self.places.workers.add(i)).load(SeqCst)) };
        }
    }

    fn finish(self) {
        self.next_round(END);
        self.team.finish();
    }
}

/// A worker's whole life. The server has restored the leader's transaction and snapshot, of which nothing is needed.
///
/// # Safety
/// `toc` is that of the parallel context that a leader has started this worker with.
#[entry]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn bloom_fit_worker(
    _segment: *mut pg_sys::dsm_segment,
    toc: *mut pg_sys::shm_toc,
) {
    // SAFETY: the caller promises it.
    let parts = unsafe { SharedParts::new(toc, LAYOUT) };
    let places = Places::new(|part| parts.part(part));
    let shared = places.shared();
    // SAFETY: there is a place for each worker.
    unsafe {
        let place = &*places.workers.add(pg_sys::ParallelWorkerNumber as usize);
        place.store(pg_sys::MyProc, SeqCst);
    }
    let mut last = 0;
    loop {
        let mut round = last;
        wait(|| {
            round = shared.turn.load(SeqCst) >> 32;
            round != last
        });
        if round == END {
            return;
        }
        last = round;
        let size = StepSize {
            patterns: shared.patterns as usize,
            fields: shared.fields as usize,
            classes: shared.classes.load(SeqCst) as usize,
            family: match (shared.family.load(SeqCst), shared.personal.load(SeqCst)) {
                (0, _) => None,
                (class, personal) => Some(Family {
                    class: class as usize,
                    personal,
                }),
            },
        };
        if places.work(round, size) {
            // SAFETY: the leader is one of the server's processes.
            unsafe { wake(shared.leader) };
        }
    }
}
