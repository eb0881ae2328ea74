//! Numbers of 32 bits in words of 64: two to a word, the first in the lower half.

use bytemuck::{cast_slice, cast_slice_mut};

/// A word of two numbers.
pub const fn join(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// The two numbers of a word.
pub const fn split(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Words of numbers; if they are odd in number, the last word has 0 in its upper half.
pub fn pack(numbers: &[u32]) -> impl Iterator<Item = u64> + '_ {
    let pairs = numbers.chunks(2);
    pairs.map(|two| join(two[0], two.get(1).copied().unwrap_or(0)))
}

/// The first `n` numbers of words; fewer if the words have fewer.
pub fn unpack(words: &[u64], n: usize) -> impl Iterator<Item = u32> + '_ {
    let pairs = words.iter().map(|&word| split(word));
    pairs.flat_map(|(low, high)| [low, high]).take(n)
}

// Words seen as smaller numbers, in the order of memory. Pages are little-endian, so the first number of a word is in
// its lowest bits.

const _: () = assert!(
    cfg!(target_endian = "little"),
    "words of a page are read as they stand in memory, and are little-endian"
);

/// The bytes of `words`.
#[inline(always)]
pub(crate) fn bytes(words: &[u64]) -> &[u8] {
    cast_slice(words)
}

/// The bytes of `words`.
#[inline(always)]
pub(crate) fn bytes_mut(words: &mut [u64]) -> &mut [u8] {
    cast_slice_mut(words)
}

/// Two numbers a word.
#[inline(always)]
pub(crate) fn halves(words: &[u64]) -> &[u32] {
    cast_slice(words)
}

/// Two numbers a word.
#[inline(always)]
pub(crate) fn halves_mut(words: &mut [u64]) -> &mut [u32] {
    cast_slice_mut(words)
}

/// Four numbers a word.
#[inline(always)]
pub(crate) fn quarters(words: &[u64]) -> &[u16] {
    cast_slice(words)
}

/// Four numbers a word.
#[inline(always)]
pub(crate) fn quarters_mut(words: &mut [u64]) -> &mut [u16] {
    cast_slice_mut(words)
}
