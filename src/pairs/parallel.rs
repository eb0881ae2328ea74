//! Parallel workers: the same pieces in each process, one counter of units, a queue of matches from each worker.

use std::mem::size_of;
use std::sync::atomic::{AtomicU64, Ordering};

use pgrx::pg_sys;

use crate::pairs::join::{Match, Pairing, Work, Worker};
use crate::pairs::pieces::{segments, Piece};
use crate::pairs::relation::Table;
use crate::pg::{check_for_interrupts, entry, ffi};
use crate::sigfile::PAGE_WORDS;

/// What all processes know.
#[repr(C)]
struct Shared {
    next: AtomicU64,
    threshold: f64,
    /// Bytes for folded rows, in each process.
    memory: u64,
    /// Tables of the left side, `u32::MAX` for all with each other.
    left: u32,
    tables: u32,
}

/// A table, by the side of [`Shared`]; the words of its metapage follow.
#[repr(C)]
struct SharedTable {
    heap: pg_sys::Oid,
    index: pg_sys::Oid,
    meta: [u64; PAGE_WORDS],
}

mod key {
    pub const SHARED: u64 = 1;
    pub const TABLES: u64 = 2;
    pub const QUEUES: u64 = 3;
}

/// Bytes of a queue: some thousand matches.
const QUEUE: usize = 1 << 18;
/// Matches of a message, about.
const BATCH: usize = 256;

/// What to join.
pub struct Job<'a> {
    pub tables: &'a [Table],
    /// So many tables are joined with the others; all with each other if `None`.
    pub left: Option<u16>,
    pub threshold: f64,
    /// Bytes for folded rows, in all processes together.
    pub memory: usize,
}

/// Units below which workers are not worth their start.
const WORTH_IT: u64 = 16;

/// The segments of the tables; the first `left` of these are one side, if so many are joined with the others.
pub fn pieces(tables: &[Table], left: Option<u16>) -> Vec<Piece> {
    let side = |n: u16| u8::from(left.is_some_and(|left| n >= left));
    let numbered = (0..).zip(tables);
    numbered
        .flat_map(|(n, t)| segments(n, side(n), t))
        .collect()
}

fn pairing(left: Option<u16>) -> Pairing {
    match left {
        None => Pairing::All,
        Some(_) => Pairing::Between,
    }
}

/// Joins the segments of the tables; passes matches to `each`, and to `progress` units done and units in all.
pub fn run(job: &Job<'_>, mut each: impl FnMut(&Match), mut progress: impl FnMut(u64, u64)) {
    let pieces = pieces(job.tables, job.left);
    let work = |memory| Work::new(&pieces, pairing(job.left), job.threshold, memory);
    let workers = if work(job.memory).units() < WORTH_IT {
        0
    } else {
        worker_limit(job.tables)
    };
    let memory = job.memory / (1 + workers);
    let work = work(memory);
    let mut worker = Worker::new(&work);
    if workers == 0 {
        let next = AtomicU64::new(0);
        while worker.turn(&next, &mut each) {
            progress(next.load(Ordering::Relaxed), work.units());
        }
        return;
    }
    let team = Team::start(job, memory, workers);
    let next = team.next();
    loop {
        team.receive(&mut each);
        let more = worker.turn(next, &mut each);
        progress(next.load(Ordering::Relaxed).min(work.units()), work.units());
        if !more {
            break;
        }
    }
    team.finish(&mut each);
}

/// How many workers may help.
fn worker_limit(tables: &[Table]) -> usize {
    // SAFETY: settings and states of this process.
    let allowed = unsafe {
        if pg_sys::IsInParallelMode() || pg_sys::ParallelWorkerNumber >= 0 {
            0
        } else {
            pg_sys::max_parallel_workers_per_gather
        }
    };
    if tables.iter().any(Table::is_temporary) {
        return 0;
    }
    allowed.max(0) as usize
}

/// The workers of a running job.
struct Team {
    context: *mut pg_sys::ParallelContext,
    shared: *const Shared,
    queues: Vec<*mut pg_sys::shm_mq_handle>,
    alive: std::cell::RefCell<Vec<bool>>,
}

impl Team {
    fn start(job: &Job<'_>, memory: usize, workers: usize) -> Team {
        // SAFETY: the protocol of parallel contexts: sizes are estimated, the segment is made, what is in it is
        // written before workers start. Where there is no room for a segment it is private memory, and no worker starts.
        unsafe {
            pg_sys::EnterParallelMode();
            let context = pg_sys::CreateParallelContext(
                c"bloom_ident".as_ptr(),
                c"bloom_duplicates_worker".as_ptr(),
                workers as i32,
            );
            let estimate = |size: usize| {
                let estimator = &mut (*context).estimator;
                let aligned = size.next_multiple_of(pg_sys::ALIGNOF_BUFFER as usize);
                estimator.space_for_chunks = pg_sys::add_size(estimator.space_for_chunks, aligned);
                estimator.number_of_keys = pg_sys::add_size(estimator.number_of_keys, 1);
            };
            let size_of_tables = job.tables.len() * size_of::<SharedTable>();
            estimate(size_of::<Shared>());
            estimate(size_of_tables);
            estimate(QUEUE * workers);
            pg_sys::InitializeParallelDSM(context);
            let toc = (*context).toc;
            let allocate = |key: u64, size: usize| {
                let address = pg_sys::shm_toc_allocate(toc, size);
                pg_sys::shm_toc_insert(toc, key, address);
                address
            };
            let shared: *mut Shared = allocate(key::SHARED, size_of::<Shared>()).cast();
            shared.write(Shared {
                next: AtomicU64::new(0),
                threshold: job.threshold,
                memory: memory as u64,
                left: job.left.map_or(u32::MAX, u32::from),
                tables: job.tables.len() as u32,
            });
            let tables: *mut SharedTable = allocate(key::TABLES, size_of_tables).cast();
            for (i, table) in job.tables.iter().enumerate() {
                let to = tables.add(i);
                (*to).heap = (*table.heap).rd_id;
                (*to).index = (*table.index.relation).rd_id;
                table.meta.encode(&mut (*to).meta);
            }
            let workers = (*context).nworkers as usize;
            let queues: *mut u8 = allocate(key::QUEUES, QUEUE * workers.max(1)).cast();
            let mut handles = Vec::new();
            for i in 0..workers {
                let queue = pg_sys::shm_mq_create(queues.add(i * QUEUE).cast(), QUEUE);
                pg_sys::shm_mq_set_receiver(queue, pg_sys::MyProc);
                handles.push(queue);
            }
            ffi::LaunchParallelWorkers(context);
            let launched = (*context).nworkers_launched as usize;
            let queues: Vec<_> = handles[..launched]
                .iter()
                .enumerate()
                .map(|(i, &queue)| {
                    let handle = (*(*context).worker.add(i)).bgwhandle;
                    pg_sys::shm_mq_attach(queue, (*context).seg, handle)
                })
                .collect();
            Team {
                context,
                shared,
                alive: std::cell::RefCell::new(vec![true; queues.len()]),
                queues,
            }
        }
    }

    fn next(&self) -> &AtomicU64 {
        // SAFETY: shared memory lives as long as the context.
        unsafe { &(*self.shared).next }
    }

    /// Passes on what has arrived; whether anything has, or a worker has ended.
    fn receive(&self, each: &mut impl FnMut(&Match)) -> bool {
        let mut any = false;
        for (i, &queue) in self.queues.iter().enumerate() {
            while self.alive.borrow()[i] {
                // a worker can be as quick to send as this process is to receive
                check_for_interrupts();
                let (mut size, mut data) = (0, std::ptr::null_mut());
                // SAFETY: an attached queue; its message stays until the next call.
                let result = unsafe { ffi::shm_mq_receive(queue, &mut size, &mut data, true) };
                match result {
                    pg_sys::shm_mq_result::SHM_MQ_SUCCESS => {
                        any = true;
                        let n = size / size_of::<Match>();
                        for k in 0..n {
                            // SAFETY: workers send whole matches.
                            each(&unsafe { data.cast::<Match>().add(k).read_unaligned() });
                        }
                    }
                    pg_sys::shm_mq_result::SHM_MQ_DETACHED => {
                        any = true;
                        self.alive.borrow_mut()[i] = false;
                    }
                    _ => break,
                }
            }
        }
        any
    }

    /// Receives what is left, and waits for all workers to end. What they have failed with fails here.
    fn finish(self, each: &mut impl FnMut(&Match)) {
        while self.alive.borrow().contains(&true) {
            if self.receive(each) {
                continue;
            }
            // SAFETY: waits for this process's latch, which queues and messages of workers set.
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
        // SAFETY: the end of the protocol.
        unsafe {
            ffi::WaitForParallelWorkersToFinish(self.context);
            ffi::DestroyParallelContext(self.context);
            pg_sys::ExitParallelMode();
        }
    }
}

/// A worker's whole life; the server has restored the leader's transaction and snapshot.
#[entry]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn bloom_duplicates_worker(
    segment: *mut pg_sys::dsm_segment,
    toc: *mut pg_sys::shm_toc,
) {
    // SAFETY: what the leader has written, before it started this process.
    unsafe {
        let shared = &*pg_sys::shm_toc_lookup(toc, key::SHARED, false).cast::<Shared>();
        let stored: *const SharedTable = pg_sys::shm_toc_lookup(toc, key::TABLES, false).cast();
        let queues: *mut u8 = pg_sys::shm_toc_lookup(toc, key::QUEUES, false).cast();
        let queue = queues.add(pg_sys::ParallelWorkerNumber as usize * QUEUE);
        pg_sys::shm_mq_set_sender(queue.cast(), pg_sys::MyProc);
        let queue = pg_sys::shm_mq_attach(queue.cast(), segment, std::ptr::null_mut());
        let tables: Vec<Table> = (0..shared.tables as usize)
            .map(|i| {
                let table = &*stored.add(i);
                Table::again(table.heap, table.index, &table.meta)
            })
            .collect();
        let left = u16::try_from(shared.left).ok();
        let pieces = pieces(&tables, left);
        let memory = shared.memory as usize;
        let work = Work::new(&pieces, pairing(left), shared.threshold, memory);
        let mut worker = Worker::new(&work);
        let mut hits = Vec::with_capacity(BATCH);
        let wanted = std::cell::Cell::new(true);
        let send = |hits: &mut Vec<Match>| {
            let size = size_of_val(&hits[..]);
            let sent = ffi::shm_mq_send(queue, size, hits.as_ptr().cast(), false, true);
            hits.clear();
            // else the leader does not want any more
            wanted.set(sent == pg_sys::shm_mq_result::SHM_MQ_SUCCESS);
        };
        while worker.turn(&shared.next, &mut |hit| {
            hits.push(*hit);
            if hits.len() == BATCH {
                send(&mut hits);
            }
        }) && wanted.get()
        {
            if !hits.is_empty() {
                send(&mut hits);
            }
        }
        pg_sys::shm_mq_detach(queue);
    }
}
