//! Bits as a signature stores them, bit i in byte i/8 at 2^(i mod 8), and as 64-bit words, little-endian.

/// Appends bits as a signature stores them as `stride` words; those that they do not fill are 0.
pub fn to_words(bits: &[u8], stride: usize, out: &mut Vec<u64>) {
    out.extend((0..stride).map(|i| {
        let mut word = [0; 8];
        let rest = bits.get(8 * i..).unwrap_or(&[]);
        let n = rest.len().min(8);
        word[..n].copy_from_slice(&rest[..n]);
        u64::from_le_bytes(word)
    }));
}

/// Fills `out` with the first bytes of `words`, as a signature stores its bits.
pub fn to_bytes(words: &[u64], out: &mut [u8]) {
    for (bytes, word) in out.chunks_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
}

// Counting the bits in which two short byte strings differ.

/// Bits in which two equally long byte strings differ.
#[inline]
pub fn differing_bits(a: &[u8], b: &[u8]) -> u32 {
    assert_eq!(a.len(), b.len(), "bit strings of different length");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instruction.
        return unsafe { differ_popcnt(a, b) };
    }
    differ_here(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn differ_popcnt(a: &[u8], b: &[u8]) -> u32 {
    differ_here(a, b)
}

/// A loop, and no iterators: what an iterator calls would be compiled without the caller's instructions.
#[inline(always)]
fn differ_here(a: &[u8], b: &[u8]) -> u32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut differ = 0;
    for i in 0..a.len() {
        differ += (u64::from_le_bytes(a[i]) ^ u64::from_le_bytes(b[i])).count_ones();
    }
    for i in 0..a_rest.len() {
        differ += (a_rest[i] ^ b_rest[i]).count_ones();
    }
    differ
}

#[cfg(test)]
mod differ_tests {
    use super::*;

    #[test]
    fn as_bit_by_bit() {
        for n in 0..40 {
            let bytes = |salt: u8| (0..n).map(|i: u8| i.wrapping_mul(salt) ^ salt).collect();
            let (a, b): (Vec<u8>, Vec<u8>) = (bytes(37), bytes(151));
            let differs = |i: usize| (a[i / 8] ^ b[i / 8]) >> (i % 8) & 1 == 1;
            let wanted = (0..8 * usize::from(n)).filter(|&i| differs(i)).count();
            assert_eq!(differing_bits(&a, &b), wanted as u32);
            assert_eq!(differ_here(&a, &b), wanted as u32);
        }
    }
}
