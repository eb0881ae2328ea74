//! Kernels for instructions that not every x86 processor has.

use std::arch::x86_64::*;

use super::kernel::{Minima, SketchKernel, BLOCK, MULTIPLIERS, SHIFTS};
use super::sign::Lanes;

/// Those of them that this processor has, the best last.
pub(super) fn kernels() -> impl Iterator<Item = SketchKernel> {
    let avx2 = is_x86_feature_detected!("avx2");
    let avx512 = avx2 && is_x86_feature_detected!("avx512f");
    // SAFETY: each is made only where the processor has its instructions.
    let (avx2, avx512) = unsafe {
        (
            avx2.then(|| SketchKernel::new("avx2", lower_avx2)),
            avx512.then(|| SketchKernel::new("avx512", lower_avx512)),
        )
    };
    [avx2, avx512].into_iter().flatten()
}

/// The kernel for registers of some width: `$scramble` and `$lower` are its functions, made of these instructions. The
/// loops are loops, and no iterators: what an iterator calls would be compiled without these instructions.
macro_rules! kernel {
    ($features:literal, $scramble:ident, $lower:ident, $register:ty, $set:ident, $xor:ident, $mul:ident, $shift:ident, $min:ident, $load:ident, $store:ident) => {
        #[target_feature(enable = $features)]
        #[inline]
        fn $scramble(mut x: $register) -> $register {
            x = $xor(x, $shift::<{ SHIFTS[0] as _ }>(x));
            x = $mul(x, $set(MULTIPLIERS[0] as i32));
            x = $xor(x, $shift::<{ SHIFTS[1] as _ }>(x));
            x = $mul(x, $set(MULTIPLIERS[1] as i32));
            $xor(x, $shift::<{ SHIFTS[2] as _ }>(x))
        }

        #[target_feature(enable = $features)]
        fn $lower(minima: &mut Minima, lanes: &Lanes, blocks: usize, hashes: &[u64]) {
            const WIDTH: usize = size_of::<$register>() / size_of::<u32>();
            const REGISTERS: usize = BLOCK / WIDTH;
            for block in 0..blocks {
                let at = block * BLOCK..(block + 1) * BLOCK;
                let (low_at, high_at) = (&lanes.low[at.clone()], &lanes.high[at.clone()]);
                let minima = &mut minima[at];
                let mut low = [$set(0); REGISTERS];
                let (mut high, mut least) = (low, low);
                for i in 0..REGISTERS {
                    // SAFETY: the three have a block of lanes, and i·WIDTH + WIDTH ≤ BLOCK; loads need no alignment.
                    unsafe {
                        low[i] = $load(low_at.as_ptr().add(i * WIDTH).cast());
                        high[i] = $load(high_at.as_ptr().add(i * WIDTH).cast());
                        least[i] = $load(minima.as_ptr().add(i * WIDTH).cast());
                    }
                }
                for &hash in hashes {
                    let (hash_low, hash_high) = ($set(hash as i32), $set((hash >> 32) as i32));
                    for i in 0..REGISTERS {
                        let mixed = $scramble($xor(hash_low, low[i]));
                        let mixed = $scramble($xor(mixed, $xor(hash_high, high[i])));
                        least[i] = $min(least[i], mixed);
                    }
                }
                for i in 0..REGISTERS {
                    // SAFETY: as above; stores need no alignment.
                    unsafe { $store(minima.as_mut_ptr().add(i * WIDTH).cast(), least[i]) };
                }
            }
        }
    };
}

kernel!(
    "avx2",
    scramble_avx2,
    lower_avx2,
    __m256i,
    _mm256_set1_epi32,
    _mm256_xor_si256,
    _mm256_mullo_epi32,
    _mm256_srli_epi32,
    _mm256_min_epu32,
    _mm256_loadu_si256,
    _mm256_storeu_si256
);

kernel!(
    "avx512f",
    scramble_avx512,
    lower_avx512,
    __m512i,
    _mm512_set1_epi32,
    _mm512_xor_si512,
    _mm512_mullo_epi32,
    _mm512_srli_epi32,
    _mm512_min_epu32,
    _mm512_loadu_si512,
    _mm512_storeu_si512
);
