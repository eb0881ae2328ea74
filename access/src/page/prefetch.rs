//! What the processor is told of pages that will be read.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use pgrx::pg_sys;

use super::{CONTENT, PAGE_WORDS};
use pg::ffi;

/// Has the processor fetch a page's descriptor, its header and these words of its content, if it is where it was the
/// last time. It is only a hint, whatever is there.
#[inline]
pub fn prefetch(recent: &Cell<pg_sys::Buffer>, words: &[usize]) {
    #[cfg(target_arch = "x86_64")]
    if recent.get() > 0 {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let number = recent.get() as usize - 1;
        // SAFETY: only addresses are computed, by wrapping arithmetic; what is prefetched need not be memory of this
        // process.
        unsafe {
            let page = pg_sys::BufferBlocks.wrapping_add(number * pg_sys::BLCKSZ as usize);
            _mm_prefetch::<_MM_HINT_T0>(ffi::buffer_descriptor(number).cast());
            _mm_prefetch::<_MM_HINT_T0>(page.cast());
            for &word in words {
                let at = page.wrapping_add(CONTENT + 8 * word);
                _mm_prefetch::<_MM_HINT_T0>(at.cast());
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (recent, words);
}

/// A word of a page's content, if the page is where it was the last time; whatever is there, if not. Nothing is pinned
/// or locked, so it serves to tell what to prefetch and for nothing else.
#[inline]
pub fn glimpse(recent: &Cell<pg_sys::Buffer>, word: usize) -> Option<u64> {
    if recent.get() <= 0 || word >= PAGE_WORDS {
        return None;
    }
    let number = recent.get() as usize - 1;
    // SAFETY: the number is that of a shared buffer which the server has given, and these are in memory as long as the
    // session runs. The word is within the buffer, and aligned as buffers are. Others may write it meanwhile, so it is
    // read at once.
    unsafe {
        let page = pg_sys::BufferBlocks.add(number * pg_sys::BLCKSZ as usize);
        let at = page.add(CONTENT + 8 * word).cast::<AtomicU64>();
        Some((*at).load(Ordering::Relaxed))
    }
}
