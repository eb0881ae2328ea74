//! The hash of a token, which stored values depend on.

use xxhash_rust::xxh3::xxh3_64;

/// XXH3 of 64 bits with seed 0, of the token's bytes as they are in UTF-8.
#[inline]
pub fn token_hash(token: &[u8]) -> u64 {
    xxh3_64(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the reference implementation, one for each way in which it reads short input, and those of golden.json.
    #[test]
    fn known_values() {
        assert_eq!(token_hash(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(token_hash(b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(token_hash(b"abc"), 0x78af_5f94_892f_3950);
    }
}
