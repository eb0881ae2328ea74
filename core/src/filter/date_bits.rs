//! Signatures of dates: one segment, one bit for each pair of digits.

use super::set_bits::Builder;
use super::shape::Shape;
use crate::text::for_each_digit_pair;
use crate::Result;

/// Bits for the 45 tokens of a date at most. With fewer of them unrelated dates share too many.
const DATE_BITS: i64 = 307;

/// The shape of signatures of dates: (1,307,0).
pub fn date_shape() -> Shape {
    Shape::new(1, DATE_BITS, 0).expect("307 is a prime")
}

impl Builder<'_> {
    /// Sets the bits of a date of eight digits; see [`for_each_digit_pair`]. `turn` is called now and then.
    ///
    /// Errors: the signature is one of n-grams.
    pub fn add_date(&mut self, date: &str, turn: impl FnMut()) -> Result<()> {
        for_each_digit_pair(date, turn, |token| self.add_token(token))
    }
}
