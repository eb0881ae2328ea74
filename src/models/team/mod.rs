//! Parallel workers that do steps of expectation with the leader of a fit. The patterns lie in shared memory, in chunks. Each process takes a chunk that
//! nobody has, and writes what the classes get of it to the chunk's place; the leader adds the chunks up in their order. So the sums are the same bit for
//! bit, however many processes there are.

mod places;

use std::mem::size_of;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::SeqCst};

use linkage::model::mixture::{EachPattern, Helpers, StepSize};
use pgrx::pg_sys;

use self::places::{
    check, key, wait, wake, write, FitLayout, FitShared, Places, SharedPattern, END, OURS,
};
use pg::{entry, ffi};

/// With fewer chunks workers are not worth their start.
const WORTH_IT: usize = 3;

/// Shared memory is scarce in containers.
const MOST_SHARED: usize = 32 << 20;

/// The workers of a fit, which start when they are worth it. After an error the end of the transaction stops them.
pub struct FitTeam {
    /// Bytes that may be shared.
    memory: usize,
    running: Option<Running>,
    size: Option<StepSize>,
}

struct Running {
    context: *mut pg_sys::ParallelContext,
    places: Places,
    workers: usize,
    round: u64,
    /// What there is room for.
    room: StepSize,
}

impl FitTeam {
    /// Nobody yet.
    pub fn new(memory: usize) -> FitTeam {
        FitTeam {
            memory,
            running: None,
            size: None,
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
        // SAFETY: these are settings and states of this process.
        let allowed = unsafe {
            if pg_sys::IsInParallelMode() || pg_sys::ParallelWorkerNumber >= 0 {
                0
            } else {
                pg_sys::max_parallel_workers_per_gather
            }
        };
        let room = self.memory.min(MOST_SHARED);
        if size.chunks() < WORTH_IT || shared_bytes(size) > room {
            return 0;
        }
        (allowed.max(0) as usize).min(size.chunks() - 1)
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
        let running = self.running.as_ref().expect("it has been started");
        let room = running.room;
        if running.workers == 0
            || size.classes > room.classes
            || (size.patterns, size.fields) != (room.patterns, room.fields)
        {
            return false;
        }
        let mut at = 0;
        each(&mut |known, random| {
            assert!(at < size.patterns, "there is room for so many patterns");
            // SAFETY: there is room for it, and no round is going on, so nobody reads.
            unsafe { running.places.patterns.add(at).write(write(known, random)) };
            at += 1;
        });
        self.size = Some(size);
        true
    }

    fn step(&mut self, classes: &[f64], each: &mut dyn FnMut(&[f64])) {
        let (Some(running), Some(size)) = (&mut self.running, self.size) else {
            unreachable!("a step has begun");
        };
        running.step(size, classes, each);
    }
}

impl Running {
    fn start(room: StepSize, workers: usize) -> Running {
        // SAFETY: this is the protocol of parallel contexts: sizes are estimated, the segment is made, and what is in it is written before workers start.
        // Where there is no room for a shared segment, it is private memory and no worker starts.
        unsafe {
            pg_sys::EnterParallelMode();
            let context = pg_sys::CreateParallelContext(
                c"bloom_ident".as_ptr(),
                c"bloom_fit_worker".as_ptr(),
                workers as i32,
            );
            let sizes = [
                (key::SHARED, size_of::<FitShared>()),
                (key::PATTERNS, room.patterns * size_of::<SharedPattern>()),
                (key::CLASSES, room.result() * size_of::<f64>()),
                (
                    key::RESULTS,
                    room.chunks() * room.result() * size_of::<f64>(),
                ),
                (
                    key::WORKERS,
                    workers * size_of::<AtomicPtr<pg_sys::PGPROC>>(),
                ),
            ];
            for (_, size) in sizes {
                let estimator = &mut (*context).estimator;
                let aligned = size.next_multiple_of(pg_sys::ALIGNOF_BUFFER as usize);
                estimator.space_for_chunks = pg_sys::add_size(estimator.space_for_chunks, aligned);
                estimator.number_of_keys = pg_sys::add_size(estimator.number_of_keys, 1);
            }
            pg_sys::InitializeParallelDSM(context);
            let toc = (*context).toc;
            let [shared, patterns, classes, results, processes] = sizes.map(|(key, size)| {
                let address = pg_sys::shm_toc_allocate(toc, size);
                pg_sys::shm_toc_insert(toc, key, address);
                address
            });
            let shared: *mut FitShared = shared.cast();
            shared.write(FitShared {
                layout: OURS,
                patterns: room.patterns as u64,
                fields: room.fields as u32,
                classes: AtomicU32::new(0),
                leader: pg_sys::MyProc,
                turn: AtomicU64::new(0),
                done: AtomicU32::new(0),
            });
            let processes: *mut AtomicPtr<pg_sys::PGPROC> = processes.cast();
            for i in 0..workers {
                processes.add(i).write(AtomicPtr::default());
            }
            ffi::LaunchParallelWorkers(context);
            Running {
                context,
                places: Places {
                    shared,
                    patterns: patterns.cast(),
                    classes: classes.cast(),
                    results: results.cast(),
                    workers: processes,
                },
                workers: (*context).nworkers_launched as usize,
                round: 0,
                room,
            }
        }
    }

    fn step(&mut self, size: StepSize, classes: &[f64], each: &mut dyn FnMut(&[f64])) {
        let shared = self.places.shared();
        assert!(classes.len() < self.room.result());
        // SAFETY: there is room for them, and no round is going on, so nobody reads.
        unsafe {
            std::ptr::copy_nonoverlapping(classes.as_ptr(), self.places.classes, classes.len());
        }
        shared.classes.store(size.classes as u32, SeqCst);
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
        // SAFETY: the context is the one that was started, and nothing uses it after this.
        unsafe {
            ffi::WaitForParallelWorkersToFinish(self.context);
            ffi::DestroyParallelContext(self.context);
            pg_sys::ExitParallelMode();
        }
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
    // SAFETY: the leader has written the layout before it started this process, at the beginning of what it shares. When it is the same as ours, what
    // follows has the types that are read here.
    let places = unsafe {
        let look_up = |key: u64| pg_sys::shm_toc_lookup(toc, key, false);
        let shared = look_up(key::SHARED);
        check(*shared.cast::<FitLayout>());
        Places {
            shared: shared.cast(),
            patterns: look_up(key::PATTERNS).cast(),
            classes: look_up(key::CLASSES).cast(),
            results: look_up(key::RESULTS).cast(),
            workers: look_up(key::WORKERS).cast(),
        }
    };
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
        };
        if places.work(round, size) {
            // SAFETY: the leader is one of the server's processes.
            unsafe { wake(shared.leader) };
        }
    }
}
