//! The generator SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
//! 2014), by which hashes are mixed. Stored signatures and sketches depend on it.

/// What the state grows by from one output to the next.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output of a state: its bits, well mixed. No two states have the same.
#[inline]
pub fn split_mix(state: u64) -> u64 {
    let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What a number comes to, well mixed; 0 as well. Keys of records depend on it.
#[inline]
pub fn mix(x: u64) -> u64 {
    split_mix(x.wrapping_add(STEP))
}
