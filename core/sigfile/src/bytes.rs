//! Words seen as smaller numbers, in the order of memory. Pages are little-endian, so the first number of a word is in
//! its lowest bits.

use bytemuck::{cast_slice, cast_slice_mut};

const _: () = assert!(
    cfg!(target_endian = "little"),
    "words of a page are read as they stand in memory, and are little-endian"
);

/// The bytes of `words`.
#[inline(always)]
pub fn bytes(words: &[u64]) -> &[u8] {
    cast_slice(words)
}

/// The bytes of `words`.
#[inline(always)]
pub fn bytes_mut(words: &mut [u64]) -> &mut [u8] {
    cast_slice_mut(words)
}

/// Two numbers a word.
#[inline(always)]
pub fn halves(words: &[u64]) -> &[u32] {
    cast_slice(words)
}

/// Two numbers a word.
#[inline(always)]
pub fn halves_mut(words: &mut [u64]) -> &mut [u32] {
    cast_slice_mut(words)
}

/// Four numbers a word.
#[inline(always)]
pub fn quarters(words: &[u64]) -> &[u16] {
    cast_slice(words)
}

/// Four numbers a word.
#[inline(always)]
pub fn quarters_mut(words: &mut [u64]) -> &mut [u16] {
    cast_slice_mut(words)
}
