//! Parallel workers. A leader shares memory with them, in parts; each worker loads the library and runs a function of
//! it. After an error of the leader the end of its transaction stops them.

use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::error::{raise, sql_error};
use crate::{check_for_interrupts, ffi};

/// The layout of what processes share, at the beginning of its first part. A worker loads the library that is installed
/// when it starts, which may be another one than its leader has loaded, so it compares the layouts before it reads
/// anything else. This struct never changes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Every change of the shared types, or of what their fields mean, raises this number.
    pub version: u32,
    /// The sizes of the shared types in bytes, 0 for none.
    pub sizes: [u32; 3],
}

impl Layout {
    /// Errors: the leader's layout is another one than `ours`.
    fn check(self, ours: Layout) {
        if self == ours {
            return;
        }
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "parallel worker has loaded another version of bloom_ident than its leader",
            )
            .detail(format!(
                "The leader shares data in layout {}, the worker reads layout {}.",
                self.describe(),
                ours.describe()
            ))
            .hint("Reconnect, so that the session loads the installed library too."),
        );
    }

    fn describe(self) -> String {
        let version = self.version;
        match self.sizes {
            [one, 0, 0] => format!("{version} ({one} bytes)"),
            [a, b, c] => format!("{version} ({a}, {b} and {c} bytes)"),
        }
    }
}

/// How many workers a job may ask for: none in a worker, or where a plan has some already.
pub fn allowed() -> usize {
    // SAFETY: these are settings and states of this process.
    unsafe {
        if pg_sys::IsInParallelMode() || pg_sys::ParallelWorkerNumber >= 0 {
            0
        } else {
            pg_sys::max_parallel_workers_per_gather.max(0) as usize
        }
    }
}

/// A leader's workers.
pub struct Team {
    context: *mut pg_sys::ParallelContext,
    parts: Vec<*mut u8>,
}

/// The key of a part in the table of contents.
fn key(part: usize) -> u64 {
    1 + part as u64
}

impl Team {
    /// Makes room for parts of these sizes in bytes, the first of which begins with a [`Layout`]. So many workers will
    /// run `worker`, a function of this library. All parts are to be written before [`Team::launch`].
    pub fn new(worker: &'static CStr, workers: usize, sizes: &[usize]) -> Team {
        // SAFETY: this is the protocol of parallel contexts: sizes are estimated, then the segment is made. Where there
        // is no room for a shared segment, it is private memory and no worker starts.
        unsafe {
            pg_sys::EnterParallelMode();
            let name = c"bloom_ident".as_ptr();
            let context = pg_sys::CreateParallelContext(name, worker.as_ptr(), workers as i32);
            let estimator = &mut (*context).estimator;
            for size in sizes {
                let aligned = size.next_multiple_of(pg_sys::ALIGNOF_BUFFER as usize);
                estimator.space_for_chunks = pg_sys::add_size(estimator.space_for_chunks, aligned);
                estimator.number_of_keys = pg_sys::add_size(estimator.number_of_keys, 1);
            }
            pg_sys::InitializeParallelDSM(context);
            let toc = (*context).toc;
            let allocate = |(part, &size): (usize, &usize)| {
                let address = pg_sys::shm_toc_allocate(toc, size);
                pg_sys::shm_toc_insert(toc, key(part), address);
                address.cast()
            };
            let parts = sizes.iter().enumerate().map(allocate).collect();
            Team { context, parts }
        }
    }

    /// Where a part lies, which stays until [`Team::finish`].
    pub fn part<T>(&self, part: usize) -> *mut T {
        self.parts[part].cast()
    }

    /// How many workers can start: none where there was no room for a shared segment.
    pub fn room(&self) -> usize {
        // SAFETY: the context lives as long as this.
        unsafe { (*self.context).nworkers as usize }
    }

    /// Starts the workers.
    ///
    /// # Safety
    /// All parts are written.
    pub unsafe fn launch(&self) {
        // SAFETY: the caller promises it.
        unsafe { ffi::LaunchParallelWorkers(self.context) };
    }

    /// How many workers have started.
    pub fn launched(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.context).nworkers_launched as usize }
    }

    /// The end of a queue at which this process receives what a worker sends.
    ///
    /// # Safety
    /// The queue lies in a part, this process is its receiver, and the worker, which has started, its sender.
    pub unsafe fn attach(
        &self,
        queue: *mut pg_sys::shm_mq,
        worker: usize,
    ) -> *mut pg_sys::shm_mq_handle {
        // SAFETY: the caller promises it.
        unsafe {
            let handle = (*(*self.context).worker.add(worker)).bgwhandle;
            pg_sys::shm_mq_attach(queue, (*self.context).seg, handle)
        }
    }

    /// Waits for the workers to end.
    ///
    /// Errors: what a worker has failed with.
    pub fn finish(self) {
        // SAFETY: the context is the one that was made, and nothing uses it or its parts after this.
        unsafe {
            ffi::WaitForParallelWorkersToFinish(self.context);
            ffi::DestroyParallelContext(self.context);
            pg_sys::ExitParallelMode();
        }
    }
}

/// What a worker finds.
pub struct SharedParts(*mut pg_sys::shm_toc);

impl SharedParts {
    /// Errors: the leader's layout is another one than `ours`.
    ///
    /// # Safety
    /// `toc` is that of the parallel context with which a [`Team`] has started this process.
    pub unsafe fn new(toc: *mut pg_sys::shm_toc, ours: Layout) -> SharedParts {
        let parts = SharedParts(toc);
        // SAFETY: every leader writes its layout at the beginning of the first part before it starts workers.
        unsafe { *parts.part::<Layout>(0) }.check(ours);
        parts
    }

    /// Where a part lies, which stays until the worker ends.
    pub fn part<T>(&self, part: usize) -> *mut T {
        // SAFETY: as new() was promised; a part that is not there is an error.
        unsafe { pg_sys::shm_toc_lookup(self.0, key(part), false).cast() }
    }
}

/// Waits for the latch of this process, and resets it. Other processes set it when there is something to see.
pub fn sleep() {
    // SAFETY: a latch of this process.
    unsafe {
        let events = pg_sys::WL_LATCH_SET | pg_sys::WL_EXIT_ON_PM_DEATH;
        let event = pg_sys::PG_WAIT_EXTENSION;
        ffi::WaitLatch(pg_sys::MyLatch, events as i32, -1, event);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts();
}
