//! Expectation maximisation of a Poisson mixture over the counts of patterns.

use super::classes::{ClassFit, ClassKind, ClassSet};
use super::evidence::{Evidence, Family, Helpers, PatternLogs, StepSize};
use super::expected::Step;
use super::shares::{cap_unlike, make_monotone};
use super::{
    Chance, Dependence, Shares, Swap, ANCHOR_ROUNDS, CONVERGED, HOUSEHOLD_EQUAL, HOUSEHOLD_PAIRS,
    LEAST_AGREEING, MOST_ROUNDS, MOST_UNLIKE, PRIOR_PAIRS, RELATIVES_PAIRS, TOWARDS_RANDOM,
};
use crate::model::pattern::Pattern;
use crate::model::values::{EQUAL, LEVELS, MISSING, ORDERED, PRESENT, SWAPPED, UNLIKE_LEVELS};

/// What stays the same during a fit.
pub(super) struct Setting<'a> {
    pub fields: usize,
    pub chance: &'a [Chance],
    pub dependence: &'a Dependence,
    /// How fields go together in matches.
    pub match_dependence: &'a Dependence,
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
        match_dependence: &'a Dependence,
        all_pairs: f64,
        records: f64,
    ) -> Setting<'a> {
        Setting {
            fields: chance.len(),
            chance,
            dependence,
            match_dependence,
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

    /// What stays the same of a pattern.
    pub fn logs(&self, pattern: Pattern) -> PatternLogs {
        PatternLogs {
            random: self.random(pattern),
            matches: self.match_dependence.log(pattern),
        }
    }

    /// The class of matches, or another one, before the first round. A second class of the same fields begins nearer to
    /// random pairs, as two that begin alike would stay alike.
    fn begin(&self, set: ClassSet, again: bool) -> ClassFit {
        let shares = |k: usize| {
            let of = &self.chance[k];
            if set.chance >> k & 1 == 1 {
                return of.u;
            }
            if set.kind != ClassKind::Plain {
                return self.household(k, of.u[MISSING]);
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
        let pairs_per_record = match set.kind {
            ClassKind::Plain => 0.2,
            ClassKind::Family => 0.05,
            ClassKind::Household => 0.01,
        };
        ClassFit {
            set,
            pairs: self.records * pairs_per_record,
            shares: (0..self.fields).map(shares).collect(),
        }
    }

    /// The shares of a field in which the pairs of a household agree, of which `missing` lack a value.
    fn household(&self, k: usize, missing: f64) -> Shares {
        let of = &self.chance[k];
        let (equal, unequal) = of.typical.split_at(EQUAL);
        let mut shares = [0.0; LEVELS];
        for (part, share, from) in [
            (equal, HOUSEHOLD_EQUAL, 0),
            (unequal, 1.0 - HOUSEHOLD_EQUAL, EQUAL),
        ] {
            let all: f64 = part.iter().sum();
            for (to, typical) in shares[from..].iter_mut().zip(part) {
                *to = typical / all * share * (1.0 - missing);
            }
        }
        shares[MISSING] = missing;
        if of.swap == Swap::Silent {
            shares[SWAPPED] = 1.0;
        }
        shares
    }

    /// Fits the matches, and one class for each set of fields that agree by chance. `turn` is called every few
    /// milliseconds.
    pub fn fit(
        &self,
        sets: &[ClassSet],
        evidence: &mut Evidence<'_>,
        helpers: &mut dyn Helpers,
        mut turn: impl FnMut(),
    ) -> Outcome {
        let matches = ClassSet {
            chance: 0,
            kind: ClassKind::Plain,
        };
        let mut classes: Vec<ClassFit> = [matches]
            .iter()
            .chain(sets)
            .enumerate()
            .map(|(i, &set)| self.begin(set, i > 0 && sets[..i - 1].contains(&set)))
            .collect();
        let family = sets.iter().position(|set| set.kind == ClassKind::Family);
        let size = StepSize {
            patterns: evidence.len(&mut turn),
            fields: self.fields,
            classes: classes.len(),
            family: family.map(|at| Family {
                class: at + 1,
                personal: sets[at].chance,
            }),
        };
        let is_helped = helpers.begin(size, &mut |each| {
            evidence.each(&mut turn, |_, known| {
                each(known, self.logs(known.pattern));
            });
        });
        let mut logs = Vec::new();
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
                false => self.expect(size, &numbers, evidence, &mut logs, &mut turn, &mut add),
            }
            let expected: f64 = classes.iter().map(|class| class.pairs).sum();
            let likelihood = all[size.result() - 1] - expected;
            let free = round >= ANCHOR_ROUNDS;
            let (sums, relatives) = all.split_at(size.classes * size.of_class());
            let sums_of = |class: usize| &sums[class * size.of_class()..][..size.of_class()];
            if let Some(family) = size.family {
                let shares = &mut classes[family.class].shares;
                self.relate(family, &sums_of(family.class)[1..], relatives, shares);
            }
            let family = size
                .family
                .map(|family| classes[family.class].shares.clone());
            let agreeing = size
                .family
                .map(|f| (f.personal, &relatives[size.fields * LEVELS..]));
            for (i, class) in classes.iter_mut().enumerate() {
                let sums = sums_of(i);
                class.pairs = sums[0];
                let is_match = i == 0;
                match (class.set.kind, &family) {
                    (ClassKind::Plain, _) if is_match && !free => (),
                    (ClassKind::Plain, _) => {
                        let agreeing = agreeing.filter(|_| is_match);
                        self.maximise(class, &sums[1..], is_match, agreeing);
                    }
                    (ClassKind::Household, Some(family)) => {
                        self.follow(
                            class,
                            &sums[1..],
                            family,
                            size.family.map_or(0, |f| f.personal),
                        );
                    }
                    (ClassKind::Family | ClassKind::Household, _) => (),
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

    /// A step of this process alone, chunk by chunk. `logs` remembers those of the first patterns.
    fn expect(
        &self,
        size: StepSize,
        classes: &[f64],
        evidence: &mut Evidence<'_>,
        logs: &mut Vec<PatternLogs>,
        turn: impl FnMut(),
        each: &mut dyn FnMut(&[f64]),
    ) {
        let mut step = Step::new(size, classes);
        let mut result = vec![0.0; size.result()];
        let (remembered, chunk) = (evidence.remembered, size.chunk());
        evidence.each(turn, |i, known| {
            let logs = match logs.get(i) {
                Some(&logs) => logs,
                None => {
                    let computed = self.logs(known.pattern);
                    if i < remembered {
                        logs.push(computed);
                    }
                    computed
                }
            };
            if i > 0 && i.is_multiple_of(chunk) {
                step.take(&mut result);
                each(&result);
            }
            step.add(known, logs);
        });
        step.take(&mut result);
        each(&result);
    }

    /// The shares of the class of families: `sums` has its pairs by field and level, `relatives` those that are two people
    /// for sure.
    fn relate(&self, family: Family, sums: &[f64], relatives: &[f64], to: &mut [Shares]) {
        for (k, to) in to.iter_mut().enumerate() {
            let of = &self.chance[k];
            let is_personal = family.personal >> k & 1 == 1;
            let of_field = |sums: &[f64]| -> Shares {
                sums[k * LEVELS..][..LEVELS]
                    .try_into()
                    .expect("so many levels")
            };
            let mut shares = of_field(if is_personal { relatives } else { sums });
            if of.swap == Swap::Silent {
                shares[SWAPPED] = 0.0;
            }
            let spoken = (0..LEVELS).filter(|&level| level != SWAPPED || of.swap == Swap::Speaks);
            if is_personal {
                spoken.for_each(|level| shares[level] += RELATIVES_PAIRS * of.u[level]);
                // two people have an equal value by chance, whether they are relatives or not
                let unequal: f64 = shares[EQUAL..].iter().sum();
                let equal: f64 = of.u[..EQUAL].iter().sum();
                for (share, u) in shares.iter_mut().zip(&of.u[..EQUAL]) {
                    *share = u / (1.0 - equal) * unequal;
                }
            } else {
                let household = self.household(k, of.u[MISSING]);
                for level in spoken {
                    shares[level] += 0.05 * of.u[level] + 1e-6;
                    if level < PRESENT {
                        shares[level] += HOUSEHOLD_PAIRS * household[level];
                    }
                }
            }
            let all: f64 = shares.iter().sum();
            shares = shares.map(|share| share / all);
            if !is_personal {
                cap_unlike(&mut shares[..PRESENT], UNLIKE_LEVELS, MOST_UNLIKE);
            }
            if of.swap == Swap::Silent {
                shares[SWAPPED] = 1.0;
            }
            *to = shares;
        }
    }

    /// The shares of a class of households: those of the family, but in what is personal and agrees in them. Only how
    /// often that is missing is its own.
    fn follow(&self, class: &mut ClassFit, sums: &[f64], family: &[Shares], personal: u32) {
        let agrees = personal & !class.set.chance;
        for (k, to) in class.shares.iter_mut().enumerate() {
            *to = match agrees >> k & 1 {
                0 => family[k],
                _ => {
                    let is_silent = self.chance[k].swap == Swap::Silent;
                    let all: f64 = (0..LEVELS)
                        .filter(|&level| level != SWAPPED || !is_silent)
                        .map(|level| sums[k * LEVELS + level] + self.chance[k].u[level])
                        .sum();
                    let missing = sums[k * LEVELS + MISSING] + self.chance[k].u[MISSING];
                    self.household(k, missing / all)
                }
            };
        }
    }

    /// The shares of the levels of present values among matches, in a personal field: of those that agree in all other
    /// personal fields, `agreeing`, since others that differ in it may be relatives. `None` where there are too few of
    /// them, or no two other fields that say so.
    fn present(&self, k: usize, (personal, agreeing): (u32, &[f64])) -> Option<Shares> {
        if personal >> k & 1 == 0 || personal.count_ones() < 3 {
            return None;
        }
        let of = &self.chance[k];
        let mut shares = [0.0; LEVELS];
        let levels = (0..PRESENT).filter(|&level| level != SWAPPED || of.swap == Swap::Speaks);
        levels.for_each(|level| shares[level] = agreeing[k * LEVELS + level]);
        if shares.iter().sum::<f64>() < LEAST_AGREEING {
            return None;
        }
        for (share, typical) in shares.iter_mut().zip(&of.typical) {
            *share += PRIOR_PAIRS * typical + 1e-6;
        }
        if of.swap != Swap::Speaks {
            shares[SWAPPED] = 0.0;
        }
        let all: f64 = shares.iter().sum();
        Some(shares.map(|share| share / all))
    }

    /// The shares of a class that is learned by itself. `agreeing`, for the class of matches: see `present`.
    fn maximise(
        &self,
        class: &mut ClassFit,
        sums: &[f64],
        is_match: bool,
        agreeing: Option<(u32, &[f64])>,
    ) {
        for k in (0..self.fields).filter(|k| class.set.chance >> k & 1 == 0) {
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
            if let Some(present) = agreeing.and_then(|agreeing| self.present(k, agreeing)) {
                let missing = shares[MISSING];
                shares = present.map(|share| share * (1.0 - missing));
                shares[MISSING] = missing;
            }
            if is_match {
                make_monotone(&mut shares[..ORDERED], &of.u[..ORDERED]);
                cap_unlike(&mut shares[..PRESENT], UNLIKE_LEVELS, MOST_UNLIKE);
            }
            if of.swap == Swap::Silent {
                shares[SWAPPED] = 1.0;
            }
            class.shares[k] = shares;
        }
    }
}
