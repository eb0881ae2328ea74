//! Where a loop can be ended: by an interrupt, and when memory is used up.

use pgrx::pg_sys;

use super::{ffi, reserve};

/// CHECK_FOR_INTERRUPTS(): one look at two variables when nothing is pending. A loop that may run longer than some
/// milliseconds calls it at every step. Counting steps is no cheaper, and nobody knows how long a step takes.
#[inline]
pub fn check_for_interrupts() {
    if interrupts_are_pending() {
        handle();
    }
}

#[cold]
fn handle() {
    // SAFETY: to be called wherever an error may be raised. The counters are states of this process.
    let held = unsafe {
        ffi::ProcessInterrupts();
        pg_sys::InterruptHoldoffCount != 0 || pg_sys::CritSectionCount != 0
    };
    if !held {
        reserve::replenish();
    }
}

/// Whether an interrupt waits to be handled, or the memory in reserve is given up. While a page is locked, interrupts
/// are held back, so a loop that holds a page asks this, and releases the page first.
#[inline]
pub fn interrupts_are_pending() -> bool {
    // SAFETY: a flag that signal handlers set at any time, so it is read anew each time.
    let pending = unsafe { std::ptr::read_volatile(&raw const pg_sys::InterruptPending) != 0 };
    pending || reserve::is_spent()
}
