//! Words seen as smaller numbers, in the order of memory.

/// The bytes of `words`.
pub fn bytes(words: &[u64]) -> &[u8] {
    // SAFETY: initialised memory of that size; any byte is a u8.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 8 * words.len()) }
}

/// The bytes of `words`.
pub fn bytes_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as above, and any eight bytes are a u64.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 8 * words.len()) }
}

/// Two numbers a word.
pub fn halves(words: &[u64]) -> &[u32] {
    // SAFETY: as above; a u64 is aligned for u32.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 2 * words.len()) }
}

/// Two numbers a word.
pub fn halves_mut(words: &mut [u64]) -> &mut [u32] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 2 * words.len()) }
}

/// Four numbers a word.
pub fn quarters(words: &[u64]) -> &[u16] {
    // SAFETY: as above; a u64 is aligned for u16.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 4 * words.len()) }
}

/// Four numbers a word.
pub fn quarters_mut(words: &mut [u64]) -> &mut [u16] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 4 * words.len()) }
}
