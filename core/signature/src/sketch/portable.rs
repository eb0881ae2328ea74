//! The kernel that runs on every processor, and the mix that all kernels compute.

use super::kernel::{Minima, SketchKernel, BLOCK, MULTIPLIERS, SHIFTS};
use super::lanes::Lanes;

/// Runs on every processor.
pub(super) fn kernel() -> SketchKernel {
    // SAFETY: no special instructions.
    unsafe { SketchKernel::new("portable", lower) }
}

/// Every bit of the result depends on every bit of `x`, and no two x have the same.
#[inline(always)]
fn scramble(mut x: u32) -> u32 {
    x = (x ^ x >> SHIFTS[0]).wrapping_mul(MULTIPLIERS[0]);
    x = (x ^ x >> SHIFTS[1]).wrapping_mul(MULTIPLIERS[1]);
    x ^ x >> SHIFTS[2]
}

/// The value of a token's hash in a lane.
#[inline(always)]
fn mix(hash: u64, low: u32, high: u32) -> u32 {
    scramble(scramble(hash as u32 ^ low) ^ (hash >> 32) as u32 ^ high)
}

fn lower(minima: &mut Minima, lanes: &Lanes, blocks: usize, hashes: &[u64]) {
    for at in (0..blocks).map(|block| block * BLOCK..(block + 1) * BLOCK) {
        let minima: &mut [u32; BLOCK] = (&mut minima[at.clone()]).try_into().expect("a block");
        let low: &[u32; BLOCK] = lanes.low[at.clone()].try_into().expect("a block");
        let high: &[u32; BLOCK] = lanes.high[at].try_into().expect("a block");
        for &hash in hashes {
            for i in 0..BLOCK {
                minima[i] = minima[i].min(mix(hash, low[i], high[i]));
            }
        }
    }
}
