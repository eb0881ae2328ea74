//! One hash of a token, on which everything depends that is stored of tokens.

use twox_hash::XxHash3_64;

/// XXH3, 64 bits, seed 0, of the token's bytes, which are UTF-8. Every length has its value by the
/// specification of xxHash, the same on every machine.
#[inline]
pub fn token_hash(token: &[u8]) -> u64 {
    XxHash3_64::oneshot(token)
}
