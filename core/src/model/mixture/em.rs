//! Expectation maximisation of a Poisson mixture over the counts of patterns.

use super::shares::{cap_unlike, make_monotone};
use super::{
    Chance, Dependence, Shares, Swap, ANCHOR_ROUNDS, CONVERGED, MOST_ROUNDS, PRIOR_PAIRS,
    TOWARDS_RANDOM,
};
use crate::model::pattern::Pattern;
use crate::model::values::{LEVELS, MISSING, PRESENT, SWAPPED};

/// Pairs of one pattern, of which the same is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Their levels.
    pub pattern: Pattern,
    /// How many there are.
    pub pairs: f64,
    /// Whether they are matches, if somebody has said so.
    pub label: Option<bool>,
}

/// A class of pairs. The first class of a fit is that of the matches.
#[derive(Clone, Debug)]
pub struct ClassFit {
    /// The fields that agree by chance only, as bits.
    pub chance: u32,
    /// Expected pairs.
    pub pairs: f64,
    /// The share of each level, for every field.
    pub shares: Vec<Shares>,
}

/// What stays the same during a fit.
pub(super) struct Setting<'a> {
    pub fields: usize,
    pub evidence: &'a [Evidence],
    pub chance: &'a [Chance],
    pub dependence: &'a Dependence,
    /// All pairs of records.
    pub all_pairs: f64,
    pub records: f64,
}

/// What a fit ends with.
pub(super) struct Outcome {
    pub classes: Vec<ClassFit>,
    pub rounds: usize,
    pub converged: bool,
}

impl Setting<'_> {
    /// Logarithm of the expected random pairs of a pattern.
    pub fn random(&self, pattern: Pattern) -> f64 {
        let u = |k: usize| self.chance[k].u[pattern.level(k)].ln();
        self.all_pairs.ln() + (0..self.fields).map(u).sum::<f64>() + self.dependence.log(pattern)
    }

    /// The class of matches, or another one, before the first round. A second class of the same fields begins nearer to random pairs, as two that
    /// begin alike would stay alike.
    fn begin(&self, chance: u32, again: bool) -> ClassFit {
        let shares = |k: usize| {
            let of = &self.chance[k];
            if chance >> k & 1 == 1 {
                return of.u;
            }
            let mut shares = [0.0; LEVELS];
            for (share, typical) in shares.iter_mut().zip(&of.typical) {
                *share = typical * (1.0 - of.u[MISSING]);
            }
            shares[MISSING] = of.u[MISSING];
            if again {
                for (share, u) in shares.iter_mut().zip(&of.u) {
                    *share = (1.0 - TOWARDS_RANDOM) * *share + TOWARDS_RANDOM * u;
                }
            }
            if of.swap == Swap::Silent {
                shares[SWAPPED] = 1.0;
            }
            shares
        };
        ClassFit {
            chance,
            pairs: self.records * 0.2,
            shares: (0..self.fields).map(shares).collect(),
        }
    }

    /// Fits the matches, and one class for each set of fields that agree by chance. `turn` is called every few milliseconds.
    pub fn fit(&self, sets: &[u32], mut turn: impl FnMut()) -> Outcome {
        let mut classes: Vec<ClassFit> = [0]
            .iter()
            .chain(sets)
            .enumerate()
            .map(|(i, &set)| self.begin(set, i > 0 && sets[..i - 1].contains(&set)))
            .collect();
        let random: Vec<f64> = self
            .evidence
            .iter()
            .map(|e| self.random(e.pattern))
            .collect();
        let mut before = f64::NEG_INFINITY;
        for round in 0..MOST_ROUNDS {
            let (sums, likelihood) = self.expect(&classes, &random, &mut turn);
            let free = round >= ANCHOR_ROUNDS;
            for (class, sums) in classes.iter_mut().zip(&sums) {
                class.pairs = sums.pairs;
                let is_match = class.chance == 0;
                if !is_match || free {
                    self.maximise(class, sums, is_match);
                }
            }
            // negated, so that a likelihood that is no number ends it
            let grows = likelihood - before >= CONVERGED * likelihood.abs();
            if round > ANCHOR_ROUNDS + 5 && !grows {
                return Outcome {
                    converged: likelihood.is_finite(),
                    classes,
                    rounds: round + 1,
                };
            }
            before = likelihood;
        }
        Outcome {
            classes,
            rounds: MOST_ROUNDS,
            converged: false,
        }
    }

    /// How many pairs of each class are expected to have each level, and the logarithm of the likelihood of the classes so far.
    fn expect(
        &self,
        classes: &[ClassFit],
        random: &[f64],
        mut turn: impl FnMut(),
    ) -> (Vec<Sums>, f64) {
        let logs: Vec<(f64, Vec<Shares>)> = classes
            .iter()
            .map(|class| {
                let log = |shares: &Shares| shares.map(|share| share.max(1e-12).ln());
                (
                    class.pairs.max(1e-9).ln(),
                    class.shares.iter().map(log).collect(),
                )
            })
            .collect();
        let mut sums: Vec<Sums> = classes.iter().map(|_| Sums::new(self.fields)).collect();
        let mut intensities = vec![0.0; classes.len()];
        let mut likelihood = 0.0;
        for (i, (evidence, &random)) in self.evidence.iter().zip(random).enumerate() {
            if i % 4096 == 0 {
                turn();
            }
            let mut top = random;
            for (intensity, (pairs, logs)) in intensities.iter_mut().zip(&logs) {
                let mut sum = *pairs;
                for (k, logs) in logs.iter().enumerate() {
                    sum += logs[evidence.pattern.level(k)];
                }
                *intensity = sum;
                top = top.max(sum);
            }
            let mut all = (random - top).exp();
            for intensity in &mut intensities {
                *intensity = (*intensity - top).exp();
                all += *intensity;
            }
            likelihood += evidence.pairs * (top + all.ln());
            match evidence.label {
                None => (),
                Some(true) => {
                    intensities.fill(0.0);
                    intensities[0] = 1.0;
                    all = 1.0;
                }
                Some(false) => {
                    all -= intensities[0];
                    intensities[0] = 0.0;
                    all = all.max(f64::MIN_POSITIVE);
                }
            }
            for (sums, intensity) in sums.iter_mut().zip(&intensities) {
                sums.add(evidence.pattern, evidence.pairs * intensity / all);
            }
        }
        likelihood -= classes.iter().map(|class| class.pairs).sum::<f64>();
        (sums, likelihood)
    }

    fn maximise(&self, class: &mut ClassFit, sums: &Sums, is_match: bool) {
        for k in (0..self.fields).filter(|k| class.chance >> k & 1 == 0) {
            let of = &self.chance[k];
            let mut shares = sums.levels[k];
            if of.swap == Swap::Silent {
                shares[SWAPPED] = 0.0;
            }
            for (level, share) in shares.iter_mut().enumerate() {
                if level == SWAPPED && of.swap != Swap::Speaks {
                    continue;
                }
                *share += 0.05 * of.u[level] + 1e-6;
                if is_match && level < PRESENT {
                    *share += PRIOR_PAIRS * of.typical[level];
                }
            }
            let all: f64 = shares.iter().sum();
            shares = shares.map(|share| share / all);
            if is_match {
                make_monotone(&mut shares, &of.u);
                cap_unlike(&mut shares);
            }
            if of.swap == Swap::Silent {
                shares[SWAPPED] = 1.0;
            }
            class.shares[k] = shares;
        }
    }
}

/// Expected pairs of a class.
struct Sums {
    pairs: f64,
    levels: Vec<Shares>,
}

impl Sums {
    fn new(fields: usize) -> Sums {
        Sums {
            pairs: 0.0,
            levels: vec![[0.0; LEVELS]; fields],
        }
    }

    #[inline]
    fn add(&mut self, pattern: Pattern, pairs: f64) {
        self.pairs += pairs;
        for (k, levels) in self.levels.iter_mut().enumerate() {
            levels[pattern.level(k)] += pairs;
        }
    }
}
