//! Memory contexts of the server.

use std::cell::Cell;
use std::ffi::CStr;
use std::ops::Deref;

use pgrx::pg_sys;

/// A child of a memory context, which goes with it.
///
/// # Safety
/// The context lives.
unsafe fn child(of: pg_sys::MemoryContext, name: &'static CStr) -> pg_sys::MemoryContext {
    // SAFETY: the name is a constant, which the new context refers to as long as it exists.
    unsafe {
        pg_sys::AllocSetContextCreateInternal(
            of,
            name.as_ptr(),
            pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
            pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
        )
    }
}

/// Runs in a memory context: what `run` allocates is of it.
///
/// # Safety
/// The context lives until `run` returns.
pub unsafe fn within<T>(context: pg_sys::MemoryContext, run: impl FnOnce() -> T) -> T {
    // SAFETY: the caller's. After an error the boundary goes back to the context before.
    unsafe {
        let before = pg_sys::MemoryContextSwitchTo(context);
        let result = run();
        pg_sys::MemoryContextSwitchTo(before);
        result
    }
}

/// Memory that is freed again and again. It goes with the memory context in which it was made.
pub struct Scratch(pg_sys::MemoryContext);

impl Scratch {
    /// A child of the current memory context.
    pub fn new(name: &'static CStr) -> Scratch {
        // SAFETY: the current memory context lives.
        Scratch(unsafe { child(pg_sys::CurrentMemoryContext, name) })
    }

    /// What `run` allocates is freed, so its result must not need it.
    pub fn with<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let result = self.within(run);
        self.reset();
        result
    }

    /// What `run` allocates stays until [`Scratch::reset`].
    pub fn within<T>(&mut self, run: impl FnOnce() -> T) -> T {
        // SAFETY: the context lives as long as this.
        unsafe { within(self.0, run) }
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

/// Runs in a memory context of its own, which is deleted afterwards: the result must not need what was allocated. After
/// an error it goes with the current memory context.
pub fn in_scratch<T>(name: &'static CStr, run: impl FnOnce() -> T) -> T {
    let mut scratch = Scratch::new(name);
    let result = scratch.within(run);
    scratch.delete();
    result
}

/// Memory that stays for the session, in a context of the server's, where `pg_backend_memory_contexts` shows it. The
/// context is made when the first memory is needed.
pub struct SessionMemory {
    name: &'static CStr,
    context: Cell<pg_sys::MemoryContext>,
}

impl SessionMemory {
    /// Nothing yet.
    pub const fn new(name: &'static CStr) -> SessionMemory {
        SessionMemory {
            name,
            context: Cell::new(std::ptr::null_mut()),
        }
    }

    /// A copy of some numbers.
    ///
    /// Errors: out of memory.
    pub fn keep(&self, words: &[u64]) -> SessionWords {
        // SAFETY: the name is a constant. The context is the session's, and is never deleted; the memory has as many
        // bytes as are copied.
        unsafe {
            if self.context.get().is_null() {
                self.context
                    .set(child(pg_sys::CacheMemoryContext, self.name));
            }
            let size = size_of_val(words).max(1);
            let at = pg_sys::MemoryContextAllocHuge(self.context.get(), size).cast::<u64>();
            at.copy_from_nonoverlapping(words.as_ptr(), words.len());
            SessionWords {
                at,
                len: words.len(),
            }
        }
    }
}

/// Numbers in [`SessionMemory`], freed when this is dropped.
pub struct SessionWords {
    at: *const u64,
    len: usize,
}

impl Deref for SessionWords {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        // SAFETY: so many numbers have been copied there, aligned as the server aligns, and nobody changes them.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl Drop for SessionWords {
    fn drop(&mut self) {
        // SAFETY: the memory is of a context that is never deleted, and freed once.
        unsafe { pg_sys::pfree(self.at.cast_mut().cast()) };
    }
}
