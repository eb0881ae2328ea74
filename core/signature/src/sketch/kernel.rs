//! Mixing the hashes of tokens and keeping the least values, in one way for each instruction set. All give the same
//! numbers.

use super::sign::{Lanes, LANES};
#[cfg(target_arch = "x86_64")]
use super::x86;
use std::sync::LazyLock;

/// Lanes that a kernel does at a time. It does all of a block though a sketch may end within it.
pub(super) const BLOCK: usize = 32;

const _: () = assert!(LANES.is_multiple_of(BLOCK));

/// The least values so far.
pub(super) type Minima = [u32; LANES];

/// Lowers the minima of so many blocks by the hashes.
type LowerFn = unsafe fn(&mut Minima, &Lanes, usize, &[u64]);

/// One way to sign, for one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct SketchKernel {
    /// The instruction set, in lower case.
    pub name: &'static str,
    lower: LowerFn,
}

impl SketchKernel {
    /// # Safety
    /// The processor has the instructions that the function is compiled for.
    pub(super) const unsafe fn new(name: &'static str, lower: LowerFn) -> SketchKernel {
        SketchKernel { name, lower }
    }

    /// Lowers the first `n` minima, and maybe some behind them, to what the hashes give.
    pub(super) fn lower(&self, minima: &mut Minima, lanes: &Lanes, n: usize, hashes: &[u64]) {
        // SAFETY: the processor has the instructions, as the kernel's maker promised.
        unsafe { (self.lower)(minima, lanes, n.div_ceil(BLOCK), hashes) }
    }
}

/// Multipliers of the mix and how far it shifts between them: C. Wellons, Prospecting for Hash Functions, 2018
/// (lowbias32).
pub(super) const MULTIPLIERS: [u32; 2] = [0x7feb_352d, 0x846c_a68b];
pub(super) const SHIFTS: [u32; 3] = [16, 15, 16];

static BEST: LazyLock<SketchKernel> =
    LazyLock::new(|| *kernels().last().expect("portable is always there"));

/// The kernels that run on this processor, the best last.
pub fn kernels() -> Vec<SketchKernel> {
    #[cfg(target_arch = "x86_64")]
    let more = x86::kernels();
    #[cfg(not(target_arch = "x86_64"))]
    let more = [];
    [portable()].into_iter().chain(more).collect()
}

/// The best of them, which is chosen when the first is needed.
pub(super) fn best() -> SketchKernel {
    *BEST
}

// The kernel that runs on every processor, and the mix that all kernels compute.

/// Runs on every processor.
fn portable() -> SketchKernel {
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
