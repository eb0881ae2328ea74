//! Memory contexts.

use std::ffi::CStr;

use pgrx::pg_sys;

/// Memory that is freed again and again. It goes with the memory context in which it was made.
pub struct Scratch(pg_sys::MemoryContext);

impl Scratch {
    pub fn new(name: &'static CStr) -> Scratch {
        // SAFETY: the name stays for ever.
        Scratch(unsafe {
            pg_sys::AllocSetContextCreateInternal(
                pg_sys::CurrentMemoryContext,
                name.as_ptr(),
                pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                pg_sys::ALLOCSET_SMALL_MAXSIZE as usize,
            )
        })
    }

    /// What `run` allocates is freed, so its result must not need it.
    pub fn with<T>(&mut self, run: impl FnOnce() -> T) -> T {
        // SAFETY: the context lives as long as this; nothing in it is used afterwards.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.0);
            let result = run();
            pg_sys::MemoryContextSwitchTo(before);
            pg_sys::MemoryContextReset(self.0);
            result
        }
    }
}
