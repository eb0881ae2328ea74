//! Where the bits of a token are: hash family 1.

use super::layout::View;
use super::shape::Shape;
use crate::split_mix::{split_mix, STEP};
use base::Result;
use text::tokens::token_hash;

/// Calls `each` with the k bit positions of a token, until it says stop. Gives whether it never did.
#[inline]
pub(super) fn token_positions(shape: Shape, token: &str, each: impl FnMut(u32) -> bool) -> bool {
    hash_positions(shape, token_hash(token.as_bytes()), each)
}

/// The same for a token of this hash. A position within its segment is the whole part of z·p/2⁶⁴, so that each has its
/// share of all z but for p/2⁶⁴.
#[inline]
pub(crate) fn hash_positions(shape: Shape, hash: u64, mut each: impl FnMut(u32) -> bool) -> bool {
    let p = u32::from(shape.p());
    let mut state = hash;
    (0..u32::from(shape.k())).all(|segment| {
        state = state.wrapping_add(STEP);
        let position = (u128::from(split_mix(state)) * u128::from(p)) >> 64;
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
