//! Measures of two signatures, all of them from three popcounts.

use crate::bits::{intersect_bits, popcount};
use crate::filter::View;
use base::Result;

/// Set bits of a, of b, and of both. Every ratio is 0 where one of the signatures is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Popcounts {
    /// Set bits of a.
    pub a: u32,
    /// Set bits of b.
    pub b: u32,
    /// Bits set in both.
    pub common: u32,
}

impl Popcounts {
    /// Errors: different shapes.
    #[inline]
    pub fn of(a: &View<'_>, b: &View<'_>) -> Result<Popcounts> {
        Ok(Popcounts {
            common: a.common(b)?,
            a: a.popcount(),
            b: b.popcount(),
        })
    }

    /// Of the bits of two signatures of one shape.
    pub fn of_bits(a: &[u8], b: &[u8]) -> Popcounts {
        Popcounts {
            a: popcount(a),
            b: popcount(b),
            common: intersect_bits(a, b),
        }
    }

    /// |A∧B| / |A∨B|, in 0…1.
    #[inline]
    pub fn jaccard(self) -> f64 {
        ratio(self.common, f64::from(self.a + self.b - self.common))
    }

    /// 2|A∧B| / (|A|+|B|)
    pub fn dice(self) -> f64 {
        ratio(2 * self.common, f64::from(self.a + self.b))
    }

    /// |A∧B| / min(|A|,|B|)
    pub fn overlap(self) -> f64 {
        ratio(self.common, f64::from(self.a.min(self.b)))
    }

    /// |A∧B| / √(|A|·|B|)
    pub fn cosine(self) -> f64 {
        ratio(self.common, (f64::from(self.a) * f64::from(self.b)).sqrt())
    }

    /// |A∧B| / |A|: how much of a is in b.
    pub fn containment(self) -> f64 {
        ratio(self.common, f64::from(self.a))
    }

    /// Bits in which they differ.
    pub fn hamming(self) -> u32 {
        self.a + self.b - 2 * self.common
    }

    /// Every bit of b is in a.
    pub fn contains(self) -> bool {
        self.common == self.b
    }
}

#[inline]
fn ratio(common: u32, whole: f64) -> f64 {
    if common == 0 {
        0.0
    } else {
        f64::from(common) / whole
    }
}
