//! Whether probabilities are ones: of the pairs that are claimed to be right with about the same probability, how many
//! are.

/// Where bands of probability begin. A band ends where the next one begins, and the last one has 1 in it.
pub(super) const BEGINNINGS: [f64; 8] = [0.0, 0.1, 0.5, 0.8, 0.95, 0.99, 0.999, 0.9999];

/// 95 % of a normal distribution lie within so many standard deviations.
const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// The pairs of a band of probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    /// How many there are.
    pub pairs: u64,
    /// The sum of their probabilities.
    pub claimed: f64,
    /// How many of them are right.
    pub right: u64,
}

impl Band {
    /// Where the share of such pairs that are right lies with a confidence of 95 % (E. Wilson: Probable Inference, the
    /// Law of Succession, and Statistical Inference, 1927). Of no pairs at all nothing is known.
    pub fn limits(&self) -> [f64; 2] {
        if self.pairs == 0 {
            return [0.0, 1.0];
        }
        let (n, z2) = (self.pairs as f64, DEVIATIONS * DEVIATIONS);
        let share = self.right as f64 / n;
        let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let variance = share * (1.0 - share) / n + z2 / (4.0 * n * n);
        let half = DEVIATIONS / (1.0 + z2 / n) * variance.sqrt();
        // exactly, where rounding would put the limit on the wrong side of the share
        let low = if self.right == 0 {
            0.0
        } else {
            (middle - half).max(0.0)
        };
        let high = if self.right == self.pairs {
            1.0
        } else {
            (middle + half).min(1.0)
        };
        [low, high]
    }
}

/// Pairs by bands of their probability.
#[derive(Clone, Debug, Default)]
pub struct Reliability([Band; BEGINNINGS.len()]);

impl Reliability {
    /// One pair more: the probability, from 0 to 1, that it is right, and whether it is.
    pub fn add(&mut self, probability: f64, is_right: bool) {
        let after = BEGINNINGS.partition_point(|&begin| begin <= probability);
        let band = &mut self.0[after.max(1) - 1];
        band.pairs += 1;
        band.claimed += probability;
        band.right += u64::from(is_right);
    }

    /// The bands in which there are pairs, each with its beginning and its end.
    pub fn bands(&self) -> impl Iterator<Item = ([f64; 2], &Band)> {
        let ends = BEGINNINGS[1..].iter().copied().chain([1.0]);
        let limits = BEGINNINGS.into_iter().zip(ends).map(<[f64; 2]>::from);
        limits.zip(&self.0).filter(|(_, band)| band.pairs > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_by_bands() {
        let mut reliability = Reliability::default();
        let pairs = [
            (0.0, false),
            (0.1, true),
            (0.4999, false),
            (0.5, true),
            (1.0, true),
        ];
        for (probability, is_right) in pairs {
            reliability.add(probability, is_right);
        }
        let bands: Vec<_> = reliability
            .bands()
            .map(|(of, b)| (of, b.pairs, b.right))
            .collect();
        assert_eq!(
            bands,
            [
                ([0.0, 0.1], 1, 0),
                ([0.1, 0.5], 2, 1),
                ([0.5, 0.8], 1, 1),
                ([0.9999, 1.0], 1, 1),
            ]
        );
    }

    /// The first three are examples of R. Newcombe, Two-sided confidence intervals for the single proportion, 1998.
    #[test]
    fn limits_of_wilson() {
        for (right, pairs, limits) in [
            (81, 263, [0.2553, 0.3662]),
            (15, 148, [0.0624, 0.1605]),
            (0, 20, [0.0, 0.1611]),
            (20, 20, [0.8389, 1.0]),
            (0, 0, [0.0, 1.0]),
        ] {
            let band = Band {
                pairs,
                claimed: 0.0,
                right,
            };
            for (found, known) in band.limits().into_iter().zip(limits) {
                assert!((found - known).abs() < 5e-5, "{right} of {pairs}: {found}");
            }
        }
    }
}
