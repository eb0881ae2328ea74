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
