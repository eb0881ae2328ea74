//! Signatures of dates: one segment, one bit for each pair of digits.

use std::sync::LazyLock;

use super::set_bits::Builder;
use super::shape::{Shape, DATE_BITS};
use super::token_bits::hash_positions;
use base::Result;
use text::tokens::token_hash;
use text::{for_each_digit_pair, DigitPair};

/// The shape of signatures of dates: (1,307,0).
pub fn date_shape() -> Shape {
    // kept, since to test for a prime takes longer than to sign
    static SHAPE: LazyLock<Shape> =
        LazyLock::new(|| Shape::new(1, DATE_BITS, 0).expect("307 is a prime"));
    *SHAPE
}

/// The bit of each token, worked out once: hashing takes longer than all the rest.
static POSITIONS: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let shape = date_shape();
    let mut positions = vec![0; PLACES * PLACES * 100];
    for i in b'1'..=b'6' {
        for j in i + 1..=b'6' {
            for (a, b) in (b'0'..=b'9').flat_map(|a| (b'0'..=b'9').map(move |b| (a, b))) {
                let token = [i, a, j, b];
                hash_positions(shape, token_hash(&token), |at| {
                    positions[number(token)] = at as u16;
                    true
                });
            }
        }
    }
    positions
});

/// Digits that a token may be of.
const PLACES: usize = 6;

/// Where a token of two places and their digits stands in the list.
#[inline]
fn number([i, a, j, b]: DigitPair) -> usize {
    let [i, j] = [i, j].map(|place| usize::from(place - b'1'));
    let [a, b] = [a, b].map(|digit| usize::from(digit - b'0'));
    (i * PLACES + j) * 100 + a * 10 + b
}

impl Builder<'_> {
    /// Sets the bits of a date of eight digits, in a signature of the shape [`date_shape`]; see
    /// [`for_each_digit_pair`]. `turn` is called now and then.
    ///
    /// Errors: digits in other groups than those of YYYYMMDD or YYYY-MM-DD.
    pub fn add_date(&mut self, date: &str, turn: impl FnMut()) -> Result<()> {
        assert_eq!(self.shape(), date_shape(), "shape of a date");
        let positions = &**POSITIONS;
        let bits = self.bits();
        for_each_digit_pair(date, turn, |token| {
            let at = usize::from(positions[number(token)]);
            bits[at / 8] |= 1 << (at % 8);
        })
    }
}
