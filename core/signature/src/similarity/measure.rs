//! How similar two rows are, as a number in 0…1 that grows with their common bits. Whatever is searched by chunks of
//! bits is searched by one of these.

use super::measures::Popcounts;
use crate::filter::query::NEVER;
use crate::sketch::{agreement, least_agreeing};

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
