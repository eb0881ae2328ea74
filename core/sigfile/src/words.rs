//! Numbers of 32 bits in words of 64: two to a word, the first in the lower half.

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
