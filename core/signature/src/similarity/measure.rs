//! How similar two rows are, as a number in 0…1 that grows with their common bits. Whatever is searched by chunks of
//! bits is searched by one of these.

use crate::bits::{intersect_bits, popcount};
use crate::filter::query::NEVER;
use crate::filter::View;
use crate::sketch::{agreement, least_agreeing};
use base::Result;

/// What a row of so many set bits, and so many in common with another one, is to that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// |A∧B| / |A∨B|.
    #[default]
    Jaccard,
    /// 1 − h/(n+1) of rows of n bits that differ in h: those that agree in all are 1, and none is 0. What has popcount
    /// n+1 is 0 to everything, itself too: it has no bits that could be compared.
    Agreement {
        /// Bits of a row: 1024 at most.
        bits: u32,
    },
}

impl Measure {
    /// The similarity: the quotient of two integers.
    #[inline]
    pub fn of(self, counts: Popcounts) -> f64 {
        match self {
            Measure::Jaccard => counts.jaccard(),
            Measure::Agreement { bits } => {
                let most = bits + 1;
                if counts.a == most || counts.b == most {
                    return 0.0;
                }
                f64::from(most.saturating_sub(counts.hamming())) / f64::from(most)
            }
        }
    }

    /// The similarity of rows that differ in so many bits, by [`Measure::Agreement`]; 0 for more than there are.
    pub fn of_hamming(bits: u32, hamming: u32) -> f64 {
        let most = bits + 1;
        f64::from(most - hamming.min(most)) / f64::from(most)
    }

    /// In how many bits rows of so many bits differ that are so similar by [`Measure::Agreement`]; `None` for what
    /// is 0.
    pub fn hamming(bits: u32, similarity: f64) -> Option<u32> {
        let most = bits + 1;
        let agree = (similarity * f64::from(most)).round() as u32;
        (agree > 0).then(|| most - agree.min(most))
    }

    /// The similarity that a search has to ask for to find what reaches a threshold as users know it: that of
    /// signatures is the same, and that of sampled bits is the estimate (2·agreeing − bits)/bits. At estimates up to 0
    /// everything is asked for, since what has no bits is found there, too.
    pub fn asked(self, threshold: f64) -> f64 {
        match self {
            Measure::Jaccard => threshold,
            Measure::Agreement { .. } if threshold <= 0.0 => 0.0,
            Measure::Agreement { bits } => least_agreeing(bits as u16, threshold)
                .map_or(NEVER, |agree| Measure::of_hamming(bits, bits - agree)),
        }
    }

    /// A similarity as users know it.
    pub fn told(self, similarity: f64) -> f64 {
        match self {
            Measure::Jaccard => similarity,
            Measure::Agreement { bits } => {
                Measure::hamming(bits, similarity).map_or(0.0, |h| agreement(bits - h, bits as u16))
            }
        }
    }

    /// What nearest neighbours are ordered by, as users know it: 1 − similarity of signatures, and the bits in which
    /// samples differ, infinity for what has none.
    pub fn distance(self, similarity: f64) -> f64 {
        match self {
            Measure::Jaccard => 1.0 - similarity,
            Measure::Agreement { bits } => {
                Measure::hamming(bits, similarity).map_or(f64::INFINITY, f64::from)
            }
        }
    }

    /// A row of `b` set bits that is so similar to one of `a` has, in single precision too, `slope`·b + `offset` bits
    /// in common with it at least: (slope, offset).
    pub fn bound(self, a: u32, threshold: f64) -> (f32, f32) {
        match self {
            Measure::Jaccard => {
                let threshold = threshold.clamp(0.0, 2.0);
                let slope = (threshold / (1.0 + threshold)) as f32;
                (slope, slope * a as f32 - 1.0)
            }
            // Those of no bits are found, too.
            Measure::Agreement { .. } if threshold <= 0.0 => (0.0, -1.0),
            Measure::Agreement { bits } => {
                let differ = (1.0 - threshold.clamp(0.0, 2.0)) * f64::from(bits + 1);
                (0.5, (0.5 * (f64::from(a) - differ) - 1.0) as f32)
            }
        }
    }
}

// Measures of two signatures, all of them from three popcounts.

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
