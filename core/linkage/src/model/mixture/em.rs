//! Expectation maximisation of a Poisson mixture over the counts of patterns.

use super::classes::ClassFit;
use super::evidence::{Evidence, Helpers, StepSize};
use super::expected::Step;
use super::shares::{cap_unlike, make_monotone};
use super::{
    Chance, Dependence, Shares, Swap, ANCHOR_ROUNDS, CONVERGED, MOST_ROUNDS, PRIOR_PAIRS,
    TOWARDS_RANDOM,
};
use crate::model::pattern::Pattern;
use crate::model::values::{LEVELS, MISSING, PRESENT, SWAPPED};

/// What stays the same during a fit.
pub(super) struct Setting<'a> {
    pub fields: usize,
    pub chance: &'a [Chance],
    pub dependence: &'a Dependence,
    /// Logarithm of the number of all pairs of records.
    all_pairs: f64,
    pub records: f64,
    /// Logarithms of the levels' shares among random pairs, by field.
    random: Vec<Shares>,
}

/// What a fit ends with.
pub(super) struct Outcome {
    pub classes: Vec<ClassFit>,
    pub rounds: usize,
    pub converged: bool,
}

impl<'a> Setting<'a> {
    /// Of `records` records, which make `all_pairs` pairs.
    pub fn new(
        chance: &'a [Chance],
        dependence: &'a Dependence,
        all_pairs: f64,
        records: f64,
    ) -> Setting<'a> {
        Setting {
            fields: chance.len(),
            chance,
            dependence,
            all_pairs: all_pairs.ln(),
            records,
            random: chance.iter().map(|of| of.u.map(f64::ln)).collect(),
        }
    }

    /// Logarithm of the expected random pairs of a pattern.
    pub fn random(&self, pattern: Pattern) -> f64 {
        let logs = self.random.iter().enumerate();
        let sum: f64 = logs.map(|(k, logs)| logs[pattern.level(k)]).sum();
        self.all_pairs + sum + self.dependence.log(pattern)
    }

    /// The class of matches, or another one, before the first round. A second class of the same fields begins nearer to
    /// random pairs, as two that begin alike would stay alike.
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

    /// Fits the matches, and one class for each set of fields that agree by chance. `turn` is called every few
    /// milliseconds.
    pub fn fit(
        &self,
        sets: &[u32],
        evidence: &mut Evidence<'_>,
        helpers: &mut dyn Helpers,
        mut turn: impl FnMut(),
    ) -> Outcome {
        let mut classes: Vec<ClassFit> = [0]
            .iter()
            .chain(sets)
            .enumerate()
            .map(|(i, &set)| self.begin(set, i > 0 && sets[..i - 1].contains(&set)))
            .collect();
        let size = StepSize {
            patterns: evidence.len(&mut turn),
            fields: self.fields,
            classes: classes.len(),
        };
        let is_helped = helpers.begin(size, &mut |each| {
            evidence.each(&mut turn, |_, known| {
                each(known, self.random(known.pattern));
            });
        });
        let mut random = Vec::new();
        let mut before = f64::NEG_INFINITY;
        for round in 0..MOST_ROUNDS {
            let numbers: Vec<f64> = classes.iter().flat_map(ClassFit::numbers).collect();
            let mut all = vec![0.0; size.result()];
            let mut add = |some: &[f64]| {
                for (all, some) in all.iter_mut().zip(some) {
                    *all += some;
                }
            };
            match is_helped {
                true => helpers.step(&numbers, &mut add),
                false => self.expect(size, &numbers, evidence, &mut random, &mut turn, &mut add),
            }
            let expected: f64 = classes.iter().map(|class| class.pairs).sum();
            let likelihood = all[size.result() - 1] - expected;
            let free = round >= ANCHOR_ROUNDS;
            for (class, sums) in classes.iter_mut().zip(all.chunks_exact(size.of_class())) {
                class.pairs = sums[0];
                let is_match = class.chance == 0;
                if !is_match || free {
                    self.maximise(class, &sums[1..], is_match);
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

    /// A step of this process alone, chunk by chunk. `random` remembers the first of the patterns' expected random
    /// pairs.
    fn expect(
        &self,
        size: StepSize,
        classes: &[f64],
        evidence: &mut Evidence<'_>,
        random: &mut Vec<f64>,
        turn: impl FnMut(),
        each: &mut dyn FnMut(&[f64]),
    ) {
        let mut step = Step::new(size, classes);
        let mut result = vec![0.0; size.result()];
        let (remembered, chunk) = (evidence.remembered, size.chunk());
        evidence.each(turn, |i, known| {
            let random = match random.get(i) {
                Some(&random) => random,
                None => {
                    let computed = self.random(known.pattern);
                    if i < remembered {
                        random.push(computed);
                    }
                    computed
                }
            };
            if i > 0 && i.is_multiple_of(chunk) {
                step.take(&mut result);
                each(&result);
            }
            step.add(known, random);
        });
        step.take(&mut result);
        each(&result);
    }

    fn maximise(&self, class: &mut ClassFit, sums: &[f64], is_match: bool) {
        for k in (0..self.fields).filter(|k| class.chance >> k & 1 == 0) {
            let of = &self.chance[k];
            let mut shares: Shares = sums[k * LEVELS..][..LEVELS]
                .try_into()
                .expect("so many levels");
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
