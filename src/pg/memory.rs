//! Memory contexts of the server.

use std::ffi::CStr;

use pgrx::pg_sys;

/// Memory that is freed again and again. It goes with the memory context in which it was made.
pub struct Scratch(pg_sys::MemoryContext);

impl Scratch {
    /// A child of the current memory context.
    pub fn new(name: &'static CStr) -> Scratch {
        // SAFETY: the name is a constant, which the context refers to as long as it exists.
        Scratch(unsafe {
            pg_sys::AllocSetContextCreateInternal(
                pg_sys::CurrentMemoryContext,
                name.as_ptr(),
                pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            )
        })
    }

    /// What `run` allocates is freed, so its result must not need it.
    pub fn with<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let result = self.within(run);
        self.reset();
        result
    }

    /// What `run` allocates stays until [`Scratch::reset`].
    pub fn within<T>(&mut self, run: impl FnOnce() -> T) -> T {
        // SAFETY: the context lives as long as this. After an error the boundary goes back to the context before.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.0);
            let result = run();
            pg_sys::MemoryContextSwitchTo(before);
            result
        }
    }

    /// Frees the context itself.
    pub fn delete(self) {
        // SAFETY: nobody else knows the context, which is not the current one.
        unsafe { pg_sys::MemoryContextDelete(self.0) };
    }

    /// Frees what was allocated.
    pub fn reset(&mut self) {
        // SAFETY: the context lives as long as this, and those who ran within it keep nothing of it.
        unsafe { pg_sys::MemoryContextReset(self.0) };
    }
}

/// Runs in a memory context of its own, which is deleted afterwards: the result must not need what was allocated. After an
/// error it goes with the current memory context.
pub fn aside<T>(name: &'static CStr, run: impl FnOnce() -> T) -> T {
    let mut scratch = Scratch::new(name);
    let result = scratch.within(run);
    scratch.delete();
    result
}
