//! Numbers that look random.

use signature::mix;

/// A number that looks random (splitmix64: G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number
/// generators, 2014).
pub fn random(state: &mut u64) -> u64 {
    let mixed = mix(*state);
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed
}
