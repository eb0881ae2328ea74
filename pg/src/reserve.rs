//! Memory in reserve, for what cannot be told that there is none.
//!
//! Most of what Rust allocates is not asked for: a failed allocation ends the process, and the server then ends all of
//! its sessions and recovers. What is large is asked for with `try_reserve`; for the rest each process keeps some
//! memory back. It is given up when an allocation fails for the first time, and the statement fails at the next look
//! for interrupts, where everything in Rust is dropped.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use base::Error;

use super::error::raise;

/// The allocator of all of the extension's Rust.
struct WithReserve;

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

/// Bytes in reserve: address space only, as long as nobody writes there. Whoever allocates as much has to ask.
const RESERVE: Layout = match Layout::from_size_align(8 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// The reserve, while there is one.
static KEPT: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// The size of the allocation that the reserve was given up for; 0 while none was.
static SPENT_FOR: AtomicUsize = AtomicUsize::new(0);

/// Keeps memory in reserve. False if there is none.
pub fn keep() -> bool {
    if KEPT.load(Relaxed).is_null() {
        // SAFETY: the layout has a size.
        KEPT.store(unsafe { System.alloc(RESERVE) }, Relaxed);
    }
    !KEPT.load(Relaxed).is_null()
}

/// Whether the reserve is given up.
#[inline]
pub fn is_spent() -> bool {
    SPENT_FOR.load(Relaxed) != 0
}

/// Fails the statement if the reserve is given up, and there is no memory for another one. To be called where an error
/// can be raised.
///
/// Errors: out of memory.
#[cold]
pub fn replenish() {
    if is_spent() {
        let size = SPENT_FOR.load(Relaxed);
        let kept = keep();
        SPENT_FOR.store(0, Relaxed);
        if !kept {
            raise(&Error::out_of_memory(size));
        }
    }
}

/// Allocates once more what was too much, without the reserve.
#[cold]
fn once_more(size: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let kept = KEPT.load(Relaxed);
    if kept.is_null() || size >= RESERVE.size() {
        return null_mut();
    }
    KEPT.store(null_mut(), Relaxed);
    SPENT_FOR.store(size.max(1), Relaxed);
    // SAFETY: it was allocated with that layout, and nobody has it any more.
    unsafe { System.dealloc(kept, RESERVE) };
    allocate()
}

/// What is allocated, maybe for the reserve.
#[inline]
fn or_once_more(size: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    match allocate() {
        none if none.is_null() => once_more(size, allocate),
        some => some,
    }
}

// SAFETY: the system's allocator does it all; what fails is tried again.
unsafe impl GlobalAlloc for WithReserve {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        or_once_more(layout.size(), || unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        or_once_more(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller says; what could not be made larger is as it was.
        or_once_more(size, || unsafe { System.realloc(memory, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(memory, layout) }
    }
}
