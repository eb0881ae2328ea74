//! How similar two rows are, as a number in 0…1 that grows with their common bits. Whatever is searched by chunks of
//! bits is searched by one of these. A measure that is only computed is a method of `Popcounts`, and a function in the
//! extension's `functions/similarity.rs`; those of names and of tokens are in the crate `text`.

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
    pub fn similarity(self, counts: Popcounts) -> f64 {
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
    pub fn for_user(self, similarity: f64) -> f64 {
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
    pub fn new(a: &View<'_>, b: &View<'_>) -> Result<Popcounts> {
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

// Thresholds on integers. A closed form in floating point loses rows: ⌈0.9·19/1.9⌉ comes out as
// 10 where 9 common bits give exactly 0.9. So every bound is found by testing the quotient.

/// The least number of common bits with which signatures of `a` and `b` set bits reach Jaccard
/// similarity `threshold`; `None` when they cannot, as when the threshold is NaN.
pub fn least_common(a: u32, b: u32, threshold: f64) -> Option<u32> {
    let jaccard = Measure::Jaccard;
    let reaches = |common| jaccard.similarity(Popcounts { a, b, common }) >= threshold;
    let most = a.min(b);
    if !reaches(most) {
        return None;
    }
    let sum = f64::from(a) + f64::from(b);
    // `as` saturates, and the quotient grows with the common bits, so any start will do
    let mut common = ((threshold * sum / (1.0 + threshold)) as u32).min(most);
    while common > 0 && reaches(common - 1) {
        common -= 1;
    }
    while !reaches(common) {
        common += 1;
    }
    Some(common)
}

/// The same by any measure, for many popcounts at one threshold.
#[derive(Clone, Copy, Debug)]
pub struct LeastCommon {
    measure: Measure,
    threshold: f64,
    /// By agreement: in how many bits rows can differ; `None` if none reaches the threshold.
    radius: Option<u32>,
    /// t/(1+t): the share of the sum of both popcounts that has to be common.
    slope: f64,
}

impl LeastCommon {
    /// So near to an integer the closed form is not believed. Its error is less than 10^-9, and where it is further
    /// away the quotients of the integers on both sides are further from the threshold than any rounding.
    const DOUBT: f64 = 1e-6;

    /// Sums of popcounts for which that holds.
    const MOST: f64 = 1e6;

    /// Any threshold will do.
    pub fn new(measure: Measure, threshold: f64) -> LeastCommon {
        LeastCommon {
            measure,
            threshold,
            radius: match measure {
                Measure::Jaccard => None,
                Measure::Agreement { bits } => radius(bits, threshold),
            },
            slope: threshold / (1.0 + threshold),
        }
    }

    /// The least number of common bits with which signatures of `a` and `b` set bits reach the threshold; `None` when
    /// they cannot.
    #[inline]
    pub fn bits(&self, a: u32, b: u32) -> Option<u32> {
        match self.measure {
            Measure::Jaccard => self.of_jaccard(a, b),
            Measure::Agreement { bits } => self.of_agreement(bits, a, b),
        }
    }

    fn of_agreement(&self, bits: u32, a: u32, b: u32) -> Option<u32> {
        // What has no bits to compare is similar by 0 to everything.
        if a > bits || b > bits || self.threshold <= 0.0 {
            return (self.threshold <= 0.0).then_some(0);
        }
        let radius = self.radius?;
        let least = (a + b).saturating_sub(radius).div_ceil(2);
        (least <= a.min(b)).then_some(least)
    }

    #[inline]
    fn of_jaccard(&self, a: u32, b: u32) -> Option<u32> {
        let sum = f64::from(a) + f64::from(b);
        let share = self.slope * sum;
        let below = share as u32;
        let rest = share - f64::from(below);
        let within = self.threshold > 0.0 && self.threshold <= 1.0 && sum < Self::MOST;
        let clear = (Self::DOUBT..=1.0 - Self::DOUBT).contains(&rest);
        if !within || !clear {
            return least_common(a, b, self.threshold);
        }
        (below < a.min(b)).then_some(below + 1)
    }
}

/// In how many of so many bits rows can differ and reach a threshold above 0 by [`Measure::Agreement`].
fn radius(bits: u32, threshold: f64) -> Option<u32> {
    let reaches = |hamming| Measure::of_hamming(bits, hamming) >= threshold;
    // `as` saturates, so any start will do.
    let mut radius = ((1.0 - threshold) * f64::from(bits + 1)) as u32;
    radius = radius.min(bits);
    while radius > 0 && !reaches(radius) {
        radius -= 1;
    }
    while radius < bits && reaches(radius + 1) {
        radius += 1;
    }
    reaches(radius).then_some(radius)
}

/// The threshold of a query whose hits are the rows with a similarity of at least `least`, which is any number, as in an
/// ordinary comparison. `lowest` is the lowest similarity that there is.
pub fn at_least(least: f64, lowest: f64) -> f64 {
    match least <= 1.0 {
        true => least.max(lowest),
        false => NEVER,
    }
}

/// The same for a similarity above `limit`.
pub fn above(limit: f64, lowest: f64) -> f64 {
    match limit < lowest {
        true => lowest,
        // That of NaN is NaN.
        false => at_least(limit.next_up(), lowest),
    }
}

/// A threshold of Jaccard similarity that all rows reach whose Dice similarity is `dice`, d, or more: d/(2−d), and a
/// few units in the last place less for what rounding can take. Rows have to be checked again.
pub fn jaccard_of_dice(dice: f64) -> f64 {
    const SLACK: f64 = 8.0 * f64::EPSILON;
    if dice > 1.0 || dice.is_nan() {
        // Dice is 1 at most, and rounded to nothing above it
        return NEVER;
    }
    if dice <= 0.0 {
        return 0.0;
    }
    let jaccard = dice / (2.0 - dice);
    at_least(jaccard - SLACK, 0.0)
}

#[cfg(test)]
mod threshold_tests {
    use super::*;

    #[test]
    fn equals_a_search_over_all_counts() {
        for (numerator, denominator) in [
            (0, 1),
            (1, 1),
            (9, 10),
            (4, 5),
            (1, 3),
            (2, 3),
            (1, 2),
            (7, 9),
        ] {
            let t = f64::from(numerator) / f64::from(denominator);
            for t in [t, t.next_up(), t.next_down(), -0.5, 1.5, f64::NAN] {
                for a in 0..60 {
                    for b in 0..60 {
                        let brute = (0..=a.min(b))
                            .find(|&common| Popcounts { a, b, common }.jaccard() >= t);
                        assert_eq!(least_common(a, b, t), brute, "{a} {b} {t}");
                        assert_eq!(
                            LeastCommon::new(Measure::Jaccard, t).bits(a, b),
                            brute,
                            "{a} {b} {t}"
                        );
                    }
                }
            }
        }
    }

    /// By agreement, every pair of counts of up to 24 bits, and what has no bits.
    #[test]
    fn agreement_asks_what_the_quotient_asks() {
        for bits in 1..24 {
            let (measure, none) = (Measure::Agreement { bits }, bits + 1);
            for hamming in 0..=bits + 1 {
                let near = Measure::of_hamming(bits, hamming);
                assert_eq!(
                    Measure::hamming(bits, near),
                    (hamming <= bits).then_some(hamming)
                );
                for t in [near, near.next_up(), near.next_down(), -0.5, 1.5, f64::NAN] {
                    let least = LeastCommon::new(measure, t);
                    for a in 0..=none {
                        for b in 0..=none {
                            // As many bits as there are have to be shared if both have many.
                            let possible = match a > bits || b > bits {
                                true => 0..=0,
                                false => 0..=a.min(b),
                            };
                            let of = |common| measure.similarity(Popcounts { a, b, common });
                            let brute = possible.clone().find(|&common| of(common) >= t);
                            assert_eq!(least.bits(a, b), brute, "{bits} {a} {b} {t}");
                            let (slope, offset) = measure.bound(a, t);
                            for common in possible.filter(|&c| of(c) >= t) {
                                assert!(common as f32 >= slope * b as f32 + offset, "{a} {b} {t}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// Thresholds that are similarities, and those beside them, for signatures as long as they get.
    #[test]
    fn the_closed_form_is_the_search() {
        let mut state = 1u64;
        let mut random = |below: u32| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u32 % below
        };
        for most in [40, 400, 9000, 1 << 30] {
            for _ in 0..20_000 {
                let (a, b) = (random(most), random(most));
                let common = random(a.min(b).max(1));
                let near = Popcounts { a, b, common }.jaccard();
                let other = f64::from(random(1000)) / 999.0;
                for t in [near, near.next_up(), near.next_down(), other] {
                    let found = LeastCommon::new(Measure::Jaccard, t).bits(a, b);
                    assert_eq!(found, least_common(a, b, t), "{a} {b} {t}");
                }
            }
        }
    }

    /// Every similarity of signatures of up to 40 bits, against every threshold nearby.
    #[test]
    fn thresholds_ask_what_the_comparison_asks() {
        let mut limits: Vec<f64> = vec![
            -1.0,
            -0.0,
            0.0,
            1.0,
            2.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for (n, d) in (1..40).flat_map(|d| (0..=d).map(move |n| (n, d))) {
            let t = f64::from(n) / f64::from(d);
            limits.extend([t, t.next_up(), t.next_down()]);
        }
        for a in 0..40 {
            for b in 0..40 {
                for common in 0..=a.min(b) {
                    let counts = Popcounts { a, b, common };
                    let (sim, dice) = (counts.jaccard(), counts.dice());
                    for &limit in &limits {
                        assert_eq!(sim > limit, sim >= above(limit, 0.0), "{sim} > {limit}");
                        assert_eq!(
                            sim >= limit,
                            sim >= at_least(limit, 0.0),
                            "{sim} >= {limit}"
                        );
                        if dice >= limit {
                            assert!(sim >= jaccard_of_dice(limit), "{dice} >= {limit}");
                        }
                    }
                }
            }
        }
    }
}
