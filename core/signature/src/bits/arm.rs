//! The kernel for NEON, the vectors that 64-bit ARM processors have.

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use super::columns::{Eight, EIGHT};
use super::kernel::{intersect_bytes, scan_words, Kernel, PackedScan};

/// It, if this processor has them.
pub(super) fn kernels() -> impl Iterator<Item = Kernel> {
    // SAFETY: it is made only where the processor has its instructions; the functions read what they are told to.
    let neon = is_aarch64_feature_detected!("neon")
        .then(|| unsafe { Kernel::new("neon", intersect_neon, scan_neon, near_neon) });
    neon.into_iter()
}

/// Bytes of a vector.
const VECTOR: usize = 16;

/// So often a byte can take the bits of another one in its sum.
const SUMS: usize = u8::MAX as usize / 8;

/// Counts the bits of each byte, sums them up in bytes as long as these have room, and then across the vector.
///
/// # Safety
/// `a` and `b` are readable for `n` bytes.
#[target_feature(enable = "neon")]
unsafe fn intersect_neon(a: *const u8, b: *const u8, n: usize) -> u32 {
    let vectors = n / VECTOR;
    let (mut common, mut at) = (0, 0);
    while at < vectors {
        let end = vectors.min(at + SUMS);
        let mut sums = vdupq_n_u8(0);
        while at < end {
            // SAFETY: 16·(at+1) ≤ n; loads are unaligned.
            let v = unsafe { vandq_u8(vld1q_u8(a.add(VECTOR * at)), vld1q_u8(b.add(VECTOR * at))) };
            sums = vaddq_u8(sums, vcntq_u8(v));
            at += 1;
        }
        common += u32::from(vaddlvq_u8(sums));
    }
    let done = VECTOR * vectors;
    // SAFETY: n % 16 of the caller's bytes are left behind the last vector.
    common + unsafe { intersect_bytes(a.add(done), b.add(done), n - done) }
}

#[target_feature(enable = "neon")]
fn scan_neon(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    // The compiler makes vectors of words whose number it knows.
    scan_words(scan, hit);
}

/// Rows in a vector.
const PAIR: usize = 2;

/// Vectors of eight rows.
const PAIRS: usize = EIGHT / PAIR;

/// The bits of a row that differ are summed up in the bytes of its half of a vector.
#[target_feature(enable = "neon")]
fn near_neon(columns: &[Eight], fold: &[u64], limit: u32, near: &mut [u8]) {
    let limit = vdupq_n_u64(limit.into());
    for (rows, near) in columns.chunks_exact(fold.len()).zip(near) {
        let mut differ = [vdupq_n_u64(0); PAIRS];
        let mut w = 0;
        while w < fold.len() {
            let end = fold.len().min(w + SUMS);
            let mut sums = [vdupq_n_u8(0); PAIRS];
            while w < end {
                let own = vdupq_n_u64(fold[w]);
                let words: *const u64 = (&raw const rows[w]).cast();
                let mut p = 0;
                while p < PAIRS {
                    // SAFETY: an `Eight` is eight words, and 2·(p+1) ≤ 8.
                    let pair = unsafe { vld1q_u64(words.add(PAIR * p)) };
                    let counts = vcntq_u8(vreinterpretq_u8_u64(veorq_u64(pair, own)));
                    sums[p] = vaddq_u8(sums[p], counts);
                    p += 1;
                }
                w += 1;
            }
            let mut p = 0;
            while p < PAIRS {
                let whole = vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(sums[p])));
                differ[p] = vaddq_u64(differ[p], whole);
                p += 1;
            }
        }
        let (mut bits, mut p) = (0, 0);
        while p < PAIRS {
            let is_near = vcleq_u64(differ[p], limit);
            bits |= (vgetq_lane_u64::<0>(is_near) & 1) << (PAIR * p);
            bits |= (vgetq_lane_u64::<1>(is_near) & 1) << (PAIR * p + 1);
            p += 1;
        }
        *near = bits as u8;
    }
}
