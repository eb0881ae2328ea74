//! Parallel workers. Each process makes the same pieces and the same plan. A counter in shared memory says which unit
//! is the next, and each worker has a queue on which it sends the pairs that it finds to the leader.

use std::cell::{Cell, RefCell};
use std::mem::size_of;
use std::sync::atomic::{AtomicU64, Ordering};

use pgrx::pg_sys;

use crate::pairs::join::pieces::{segments, JoinPiece};
use crate::pairs::join::units::{JoinPlan, Pairing, Worker, ALONE, SHARED};
use crate::pairs::join::{JoinSink, RowPair, TableNumber};
use crate::pairs::table::{IndexedTable, IndexedTables};
use access::PAGE_WORDS;
use pg::team::{self, Layout, SharedParts, Team};
use pg::{check_for_interrupts, entry, ffi};

/// The layout of this library: in its data, whichever way it is compiled, where tests change it.
fn layout() -> Layout {
    static OURS: Layout = Layout {
        version: 2,
        sizes: [
            size_of::<Shared>() as u32,
            size_of::<SharedTable>() as u32,
            size_of::<RowPair>() as u32,
        ],
    };
    *std::hint::black_box(&OURS)
}

/// What all processes of a join know.
#[repr(C)]
struct Shared {
    /// Stays the first field.
    layout: Layout,
    /// The next unit that no process has taken.
    next: AtomicU64,
    threshold: f64,
    /// Bytes for each process.
    memory: u64,
    /// How many tables are on the left side; `u32::MAX` if all tables are joined with each other.
    left: u32,
    tables: u32,
}

/// A table, in an array beside [`Shared`].
#[repr(C)]
struct SharedTable {
    heap: pg_sys::Oid,
    index: pg_sys::Oid,
    /// The words of the metapage that the leader has read.
    meta: [u64; PAGE_WORDS],
}

/// The parts of what is shared.
mod part {
    pub const SHARED: usize = 0;
    pub const TABLES: usize = 1;
    pub const QUEUES: usize = 2;
}

/// Bytes of a queue: some thousand pairs.
const QUEUE: usize = 1 << 18;
/// About so many pairs are in a message.
const BATCH: usize = 256;

/// What to join.
pub struct Job<'a> {
    /// Those of both relations are joined, or all of one relation with each other.
    pub tables: &'a IndexedTables,
    pub threshold: f64,
    /// Bytes for all processes together.
    pub memory: usize,
}

impl Job<'_> {
    /// The units, the memory of each process, and how many workers may help.
    pub fn plan<'p>(&self, pieces: &'p [JoinPiece<'p>]) -> (JoinPlan<'p>, usize, usize) {
        let pairing = pairing(self.tables.left);
        let plan = |memory| JoinPlan::new(pieces, pairing, self.threshold, memory, SHARED);
        // Other processes cannot read temporary tables.
        let is_shared = !self.tables.list.iter().any(IndexedTable::is_temporary);
        let workers = if is_shared { team::allowed() } else { 0 };
        if workers == 0 || plan(self.memory).units() < WORTH_IT {
            let alone = JoinPlan::new(pieces, pairing, self.threshold, self.memory, ALONE);
            return (alone, self.memory, 0);
        }
        let memory = self.memory / (1 + workers);
        (plan(memory), memory, workers)
    }
}

/// With fewer units workers are not worth their start.
const WORTH_IT: u64 = 16;

/// The segments of the tables that have posting lists. The first `left` tables are side 0, if so many are joined with
/// the others.
pub fn pieces(tables: &[IndexedTable], left: Option<usize>) -> Vec<JoinPiece<'_>> {
    let side = |n: usize| u8::from(left.is_some_and(|left| n >= left));
    let numbered = tables.iter().enumerate();
    numbered
        .flat_map(|(n, table)| segments(TableNumber::of_index(n), side(n), table))
        .collect()
}

fn pairing(left: Option<usize>) -> Pairing {
    match left {
        None => Pairing::All,
        Some(_) => Pairing::Between,
    }
}

/// Joins the segments of the tables, with workers if these are worth their start.
///
/// Errors: a damaged page; out of memory; what a worker fails with.
pub fn run(job: &Job<'_>, sink: &mut impl JoinSink) {
    let pieces = pieces(&job.tables.list, job.tables.left);
    let (plan, memory, workers) = job.plan(&pieces);
    sink.progress(0, plan.units());
    let mut worker = Worker::new(&plan);
    if workers == 0 {
        let next = AtomicU64::new(0);
        while worker.turn(&next, &mut |pair| sink.pair(pair)) {
            sink.progress(next.load(Ordering::Relaxed), plan.units());
        }
        return;
    }
    let team = JoinTeam::start(job, memory, workers);
    let next = team.next();
    loop {
        team.receive(sink);
        // A unit can take seconds, in which workers that find many pairs would wait for room in their queues.
        let mut since = 0;
        let more = worker.turn(next, &mut |pair| {
            sink.pair(pair);
            since += 1;
            if since == BATCH {
                since = 0;
                team.receive(sink);
            }
        });
        sink.progress(next.load(Ordering::Relaxed).min(plan.units()), plan.units());
        if !more {
            break;
        }
    }
    team.finish(sink);
}

/// The workers of a running job.
struct JoinTeam {
    team: Team,
    /// Of the workers that can still send.
    queues: RefCell<Vec<*mut pg_sys::shm_mq_handle>>,
}

impl JoinTeam {
    fn start(job: &Job<'_>, memory: usize, workers: usize) -> JoinTeam {
        let tables = &job.tables.list;
        let bytes = tables.len() * size_of::<SharedTable>();
        let sizes = [size_of::<Shared>(), bytes, QUEUE * workers];
        let team = Team::new(c"bloom_join_worker", workers, &sizes);
        // SAFETY: all is written to parts that have room for it, before workers start.
        unsafe {
            team.part::<Shared>(part::SHARED).write(Shared {
                layout: layout(),
                next: AtomicU64::new(0),
                threshold: job.threshold,
                memory: memory as u64,
                left: job.tables.left.map_or(u32::MAX, |left| left as u32),
                tables: tables.len() as u32,
            });
            for (i, table) in tables.iter().enumerate() {
                let to = team.part::<SharedTable>(part::TABLES).add(i);
                (*to).heap = table.heap.rd_id;
                (*to).index = (*table.index().relation()).rd_id;
                table.meta.encode(&mut (*to).meta);
            }
            let make = |i| {
                let memory = team.part::<u8>(part::QUEUES).add(i * QUEUE);
                let queue = pg_sys::shm_mq_create(memory.cast(), QUEUE);
                pg_sys::shm_mq_set_receiver(queue, pg_sys::MyProc);
                queue
            };
            let queues: Vec<_> = (0..team.room()).map(make).collect();
            team.launch();
            let launched = queues[..team.launched()].iter().enumerate();
            let queues: Vec<_> = launched.map(|(i, &queue)| team.attach(queue, i)).collect();
            JoinTeam {
                team,
                queues: RefCell::new(queues),
            }
        }
    }

    fn next(&self) -> &AtomicU64 {
        // SAFETY: it was written, and lives as long as the team, which `finish` consumes.
        unsafe { &(*self.team.part::<Shared>(part::SHARED)).next }
    }

    /// Passes on the pairs that have arrived. Returns whether any have, or a worker has ended.
    fn receive(&self, sink: &mut impl JoinSink) -> bool {
        let mut any = false;
        let mut receive = |queue: *mut pg_sys::shm_mq_handle| {
            loop {
                // A worker can send as fast as this process receives, so this loop may be long.
                check_for_interrupts();
                let (mut size, mut data) = (0, std::ptr::null_mut());
                // SAFETY: the queue is attached; its message stays until the next call for this queue.
                let result = unsafe { ffi::shm_mq_receive(queue, &mut size, &mut data, true) };
                match result {
                    pg_sys::shm_mq_result::SHM_MQ_SUCCESS => {
                        any = true;
                        let n = size / size_of::<RowPair>();
                        for k in 0..n {
                            // SAFETY: workers send whole pairs, and the message has room for `n` of them.
                            sink.pair(&unsafe { data.cast::<RowPair>().add(k).read_unaligned() });
                        }
                    }
                    pg_sys::shm_mq_result::SHM_MQ_DETACHED => {
                        any = true;
                        return false;
                    }
                    _ => return true,
                }
            }
        };
        self.queues.borrow_mut().retain(|&queue| receive(queue));
        any
    }

    /// Receives what is left, and waits for all workers to end.
    ///
    /// Errors: what a worker has failed with.
    fn finish(self, sink: &mut impl JoinSink) {
        while !self.queues.borrow().is_empty() {
            if !self.receive(sink) {
                team::sleep();
            }
        }
        self.team.finish();
    }
}

/// A worker's whole life. The server has restored the leader's transaction and snapshot.
///
/// The name is not the one that libraries without a [`Layout`] have. They would take what a leader of this one shares
/// for their own, and their workers would crash the server; so the server does not find the function there, which is an
/// error.
///
/// # Safety
/// `segment` and `toc` are those of the parallel context that a leader has started this worker with.
#[entry]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn bloom_join_worker(
    segment: *mut pg_sys::dsm_segment,
    toc: *mut pg_sys::shm_toc,
) {
    // SAFETY: the leader has written the layout before it started this process, at the beginning of what it shares.
    // When it is the same as ours, what follows has the types that are read here.
    unsafe {
        let parts = SharedParts::new(toc, layout());
        let shared = &*parts.part::<Shared>(part::SHARED);
        let stored: *const SharedTable = parts.part(part::TABLES);
        let queues: *mut u8 = parts.part(part::QUEUES);
        let queue = queues.add(pg_sys::ParallelWorkerNumber as usize * QUEUE);
        pg_sys::shm_mq_set_sender(queue.cast(), pg_sys::MyProc);
        let queue = pg_sys::shm_mq_attach(queue.cast(), segment, std::ptr::null_mut());
        let tables: Vec<IndexedTable> = (0..shared.tables as usize)
            .map(|i| {
                let table = &*stored.add(i);
                IndexedTable::again(table.heap, table.index, &table.meta)
            })
            .collect();
        let left = (shared.left != u32::MAX).then_some(shared.left as usize);
        let pieces = pieces(&tables, left);
        let memory = shared.memory as usize;
        let plan = JoinPlan::new(&pieces, pairing(left), shared.threshold, memory, SHARED);
        let mut worker = Worker::new(&plan);
        let mut pairs = Vec::with_capacity(BATCH);
        let wanted = Cell::new(true);
        let send = |pairs: &mut Vec<RowPair>| {
            let size = size_of_val(&pairs[..]);
            let sent = ffi::shm_mq_send(queue, size, pairs.as_ptr().cast(), false, true);
            pairs.clear();
            // Otherwise the leader has detached, since it does not want any more.
            wanted.set(sent == pg_sys::shm_mq_result::SHM_MQ_SUCCESS);
        };
        while worker.turn(&shared.next, &mut |pair| {
            pairs.push(*pair);
            if pairs.len() == BATCH {
                send(&mut pairs);
            }
        }) && wanted.get()
        {
            if !pairs.is_empty() {
                send(&mut pairs);
            }
        }
        pg_sys::shm_mq_detach(queue);
    }
}
