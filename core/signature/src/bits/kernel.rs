//! Counting the bits that two equally long byte strings have in common, in one way for each instruction set. All
//! give the same numbers.

use std::sync::LazyLock;

use super::portable;
use super::scan::PackedScan;
#[cfg(target_arch = "x86_64")]
use super::x86;

/// Counts the bits that two strings of so many bytes have in common.
type IntersectFn = unsafe fn(*const u8, *const u8, usize) -> u32;

/// Calls the function with number and common bits of every row that reaches its limit.
type ScanFn = unsafe fn(&PackedScan<'_>, &mut dyn FnMut(usize, u32));

/// One way to count, for one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The instruction set, in lower case.
    pub name: &'static str,
    intersect: IntersectFn,
    scan: ScanFn,
}

impl Kernel {
    /// # Safety
    /// The processor has the instructions that the functions are compiled for. `intersect` reads as many bytes
    /// behind both pointers as its third argument says, and nothing else.
    pub(super) const unsafe fn new(
        name: &'static str,
        intersect: IntersectFn,
        scan: ScanFn,
    ) -> Kernel {
        Kernel {
            name,
            intersect,
            scan,
        }
    }

    /// Bits set in both.
    #[inline]
    pub fn intersect(&self, a: &[u8], b: &[u8]) -> u32 {
        assert_eq!(a.len(), b.len(), "bit strings of different length");
        // SAFETY: both slices have the length, and the processor has the instructions, as the kernel's maker
        // promised.
        unsafe { (self.intersect)(a.as_ptr(), b.as_ptr(), a.len()) }
    }

    /// Bits set in both of two equally long rows of words.
    #[inline]
    pub(super) fn intersect_words(&self, a: &[u64], b: &[u64]) -> u32 {
        assert_eq!(a.len(), b.len(), "rows of different length");
        // SAFETY: both slices have the length in bytes, and the processor has the instructions, as the kernel's
        // maker promised.
        unsafe { (self.intersect)(a.as_ptr().cast(), b.as_ptr().cast(), size_of_val(a)) }
    }

    /// Calls `hit` with number and common bits of every row that reaches its limit.
    pub fn scan(&self, scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
        // SAFETY: the processor has the instructions, as the kernel's maker promised.
        unsafe { (self.scan)(scan, hit) }
    }
}

// The kernel that is chosen when the first is needed, by what the processor offers.
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
