//! Numbers that look random, and numbers well mixed.

/// A number that looks random (splitmix64: G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number
/// generators, 2014).
pub fn random(state: &mut u64) -> u64 {
    let mixed = mix(*state);
    *state = state.wrapping_add(GOLDEN);
    mixed
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a number comes to, well mixed (the finaliser of that generator).
#[inline]
pub fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(GOLDEN);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
