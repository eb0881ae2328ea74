//! Where the bits of a token are: hash family 1.

use super::layout::View;
use super::shape::Shape;
use base::Result;
use text::tokens::token_hash;

/// What the state of SplitMix64 grows by.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that SplitMix64 gives for a state.
#[inline]
fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Calls `each` with the k bit positions of a token, until it says stop. Gives whether it never did.
#[inline]
pub(super) fn token_positions(shape: Shape, token: &str, each: impl FnMut(u32) -> bool) -> bool {
    hash_positions(shape, token_hash(token.as_bytes()), each)
}

/// The same for a token of this hash. A position within its segment is the whole part of z·p/2⁶⁴, so that each has its share of all z
/// but for p/2⁶⁴.
#[inline]
pub(crate) fn hash_positions(shape: Shape, hash: u64, mut each: impl FnMut(u32) -> bool) -> bool {
    let p = u32::from(shape.p());
    let mut state = hash;
    (0..u32::from(shape.k())).all(|segment| {
        state = state.wrapping_add(STEP);
        let position = (u128::from(mix(state)) * u128::from(p)) >> 64;
        each(segment * p + position as u32)
    })
}

/// Whether a token may be in the filter: all its bits are set.
///
/// Errors: the signature is one of n-grams.
pub fn contains_token(view: &View<'_>, token: &str) -> Result<bool> {
    view.shape().check_of_tokens()?;
    let bits = view.bits();
    Ok(token_positions(view.shape(), token, |at| {
        bits[at as usize / 8] >> (at % 8) & 1 == 1
    }))
}
