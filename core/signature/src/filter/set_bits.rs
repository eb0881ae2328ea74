//! Setting bits: from text, from tokens, from positions, by union and intersection.

use super::layout::{header_of, write_header, View};
use super::shape::{Shape, DATE_BITS};
use crate::bits::popcount;
use crate::split_mix::{split_mix, STEP};
use base::{Error, ErrorKind, Result};
use bitvec::prelude::Lsb0;
use bitvec::view::BitView;
use std::sync::LazyLock;
use text::ngram::{for_each_ngram, for_each_normal_ngram, Gaps};
use text::tokens::token_hash;
use text::{for_each_digit_pair, DigitPair};

/// Remainder by a divisor known before: two multiplications instead of a division
/// (D. Lemire, O. Kaser, N. Kurz: Faster remainder by direct computation, 2019).
#[derive(Clone, Copy)]
struct Modulus {
    divisor: u32,
    reciprocal: u64,
}

impl Modulus {
    fn new(divisor: u32) -> Self {
        Modulus {
            divisor,
            reciprocal: (u64::MAX / u64::from(divisor)).wrapping_add(1),
        }
    }

    #[inline]
    fn remainder(self, n: u64) -> u32 {
        if n > u64::from(u32::MAX) {
            return (n % u64::from(self.divisor)) as u32;
        }
        let fraction = self.reciprocal.wrapping_mul(n);
        ((u128::from(fraction) * u128::from(self.divisor)) >> 64) as u32
    }
}

/// A shape with what hashing needs worked out.
#[derive(Clone, Copy)]
pub(crate) struct Hasher {
    shape: Shape,
    p: Modulus,
    p_minus_2: Modulus,
}

impl Hasher {
    pub fn new(shape: Shape) -> Self {
        Hasher {
            shape,
            p: Modulus::new(u32::from(shape.p())),
            // Keyed signatures, which nothing is hashed for here, may have segments of one bit.
            p_minus_2: Modulus::new(u32::from(shape.p().max(3)) - 2),
        }
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Calls `each` with the k bit positions of an n-gram, until it says stop. Gives whether it never did.
    #[inline]
    pub fn positions(&self, index: u64, mut each: impl FnMut(u32) -> bool) -> bool {
        let p = self.p.divisor;
        let mut position = self.p.remainder(index);
        let step = self.p_minus_2.remainder(index) + 1;
        let mut segment = 0;
        for _ in 0..self.shape.k() {
            if !each(segment + position) {
                return false;
            }
            position += step;
            if position >= p {
                position -= p;
            }
            segment += p;
        }
        true
    }
}

/// Sets a bit. By hand: with bitvec's set a whole signature takes 13 % more instructions.
#[inline(always)]
fn set(bits: &mut [u8], at: u32) -> bool {
    bits[at as usize / 8] |= 1 << (at % 8);
    true
}

/// A signature under construction in memory that the caller provides.
pub struct Builder<'b> {
    hasher: Hasher,
    bytes: &'b mut [u8],
}

impl<'b> Builder<'b> {
    /// Bytes that a signature of this shape takes.
    pub fn size(shape: Shape) -> usize {
        header_of(shape) + shape.bytes()
    }

    /// An empty signature in `bytes`, which must be [`Builder::size`] long.
    pub fn new(shape: Shape, bytes: &'b mut [u8]) -> Self {
        assert_eq!(bytes.len(), Self::size(shape), "signature buffer");
        bytes.fill(0);
        Builder {
            hasher: Hasher::new(shape),
            bytes,
        }
    }

    /// Goes on with a copy of `view` in `bytes`, which must be as long as the view.
    pub fn from_view(view: &View<'_>, bytes: &'b mut [u8]) -> Self {
        bytes.copy_from_slice(view.bytes());
        Builder {
            hasher: Hasher::new(view.shape()),
            bytes,
        }
    }

    /// Goes on with a signature where it stands. `None` when `bytes` are none.
    pub fn in_place(bytes: &'b mut [u8]) -> Option<Self> {
        let shape = View::stored(bytes)?.shape();
        Some(Builder {
            hasher: Hasher::new(shape),
            bytes,
        })
    }

    /// What the signature is of.
    pub fn shape(&self) -> Shape {
        self.hasher.shape
    }

    /// The bits, bit i in byte i/8 at 2^(i mod 8).
    pub fn bits(&mut self) -> &mut [u8] {
        &mut self.bytes[header_of(self.hasher.shape)..]
    }

    /// Sets the bits of every n-gram of `text`; `tick` is called now and then.
    ///
    /// Errors: the signature is one of tokens, or of a rule set that this version does not have.
    pub fn add_text(
        &mut self,
        text: &str,
        gaps: impl Into<Gaps>,
        tick: impl FnMut(),
    ) -> Result<()> {
        let hasher = self.hasher;
        let rules = hasher.shape.text_rules()?;
        let bits = self.bits();
        for_each_ngram(
            text,
            rules,
            hasher.shape.ngram(),
            gaps,
            |_, index| {
                hasher.positions(index, |at| set(bits, at));
            },
            tick,
        );
        Ok(())
    }

    /// Sets the bits of a token, which is hashed as it is, in UTF-8.
    ///
    /// Errors: the signature is one of n-grams.
    pub fn add_token(&mut self, token: &str) -> Result<()> {
        let shape = self.hasher.shape;
        shape.check_of_tokens()?;
        let bits = self.bits();
        hash_positions(shape, token_hash(token.as_bytes()), |at| set(bits, at));
        Ok(())
    }

    /// Sets the bits of every n-gram of a text in its normal form; n-grams reach over the `_` between words.
    pub fn add_normal(&mut self, normal: &str) {
        let hasher = self.hasher;
        let bits = self.bits();
        for_each_normal_ngram(normal, hasher.shape.ngram(), |index| {
            hasher.positions(index, |at| set(bits, at));
        });
    }

    /// Sets one bit.
    ///
    /// Errors: a position that the shape does not have, or one that is set already.
    pub fn add_position(&mut self, at: u32) -> Result<()> {
        let shape = self.hasher.shape;
        let bad = |message: String| Err(Error::new(ErrorKind::InvalidText, message));
        if at >= shape.m() {
            return bad(format!(
                "bit position {at} is out of range for shape {shape}"
            ));
        }
        if self
            .bits()
            .view_bits_mut::<Lsb0>()
            .replace(at as usize, true)
        {
            return bad(format!("bit position {at} occurs twice"));
        }
        Ok(())
    }

    /// Or, and: bit by bit with a signature of the same shape.
    ///
    /// Errors: different shapes.
    pub fn unite(&mut self, other: &View<'_>) -> Result<()> {
        self.merge(other, |a, b| a | b)
    }

    /// See [`Builder::unite`].
    pub fn intersect(&mut self, other: &View<'_>) -> Result<()> {
        self.merge(other, |a, b| a & b)
    }

    fn merge(&mut self, other: &View<'_>, with: impl Fn(u8, u8) -> u8) -> Result<()> {
        let shape = self.hasher.shape;
        if shape != other.shape() {
            return Err(Shape::mismatch(shape, other.shape()));
        }
        for (a, b) in self.bits().iter_mut().zip(other.bits()) {
            *a = with(*a, *b);
        }
        Ok(())
    }

    /// Writes the header: the signature is whole.
    pub fn finish(mut self) -> View<'b> {
        let count = popcount(self.bits());
        write_header(self.hasher.shape, count, self.bytes);
        View::stored(self.bytes).expect("just built")
    }
}

/// Whether every n-gram of `text` may be in the filter: all its bits are set. Empty text is.
///
/// Errors: the signature is one of tokens, or of a rule set that this version does not have.
pub fn contains_text(
    view: &View<'_>,
    text: &str,
    gaps: impl Into<Gaps>,
    tick: impl FnMut(),
) -> Result<bool> {
    let hasher = Hasher::new(view.shape());
    let rules = hasher.shape.text_rules()?;
    let bits = view.bits();
    let mut all = true;
    for_each_ngram(
        text,
        rules,
        hasher.shape.ngram(),
        gaps,
        |_, index| {
            // by hand: with bitvec's index it takes 8 % more instructions
            all = all && hasher.positions(index, |at| bits[at as usize / 8] >> (at % 8) & 1 == 1);
        },
        tick,
    );
    Ok(all)
}

// Where the bits of a token are: hash family 1.

/// Calls `each` with the k bit positions of a token of this hash, until it says stop. Gives whether it never did. A
/// position within its segment is the whole part of z·p/2⁶⁴, so that each has its
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
    Ok(hash_positions(
        view.shape(),
        token_hash(token.as_bytes()),
        |at| bits[at as usize / 8] >> (at % 8) & 1 == 1,
    ))
}

// Signatures of dates: one segment, one bit for each pair of digits.

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

#[cfg(test)]
mod tests {
    use super::Modulus;

    #[test]
    fn remainders_are_exact_for_every_divisor() {
        for d in 3..=8191u32 {
            let modulus = Modulus::new(d);
            for n in [
                0,
                1,
                u64::from(d) - 1,
                u64::from(d),
                3_999_999_999,
                u64::from(u32::MAX),
                u64::from(u32::MAX) + 1,
                37u64.pow(8) * 2,
            ] {
                assert_eq!(
                    u64::from(modulus.remainder(n)),
                    n % u64::from(d),
                    "{n} mod {d}"
                );
            }
        }
    }
}
