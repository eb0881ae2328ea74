//! The kernel that is chosen when the first is needed, by what the processor offers.

use std::sync::LazyLock;

use super::kernel::Kernel;
use super::portable;
use super::scan::PackedScan;
#[cfg(target_arch = "x86_64")]
use super::x86;

static BEST: LazyLock<Kernel> =
    LazyLock::new(|| *kernels().last().expect("portable is always there"));

/// The kernels that run on this processor, the best last.
pub fn kernels() -> Vec<Kernel> {
    let mut kernels = vec![portable::kernel()];
    #[cfg(target_arch = "x86_64")]
    kernels.extend(x86::kernels());
    kernels
}

/// Bits that are set.
#[inline]
pub fn popcount(bits: &[u8]) -> u32 {
    BEST.intersect(bits, bits)
}

/// Bits set in both of two equally long bit strings.
#[inline]
pub fn intersect_bits(a: &[u8], b: &[u8]) -> u32 {
    BEST.intersect(a, b)
}

/// Bits set in both of two equally long rows of words.
#[inline]
pub fn intersect_words(a: &[u64], b: &[u64]) -> u32 {
    BEST.intersect_words(a, b)
}

/// Calls `hit` with number and common bits of every row that reaches its limit.
#[inline]
pub fn scan(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    BEST.scan(scan, hit);
}
