//! The fit of a linkage of things: expectation maximisation over candidate pairs that compete.

use std::collections::BTreeMap;

use base::Result;

use super::competition::{each_pair, CandidatePair, CandidatePairs, Competition, Weighed};
use super::missing::{Mask, MaskShares, MatchMasks, States};
use super::odds::{EachRun, Learned, Odds, PatternRuns};
use super::{Dependence, OneToOne, Shares};
use crate::model::mixture::{
    cap_unlike, make_monotone, FieldFrequencies, JointLevels, OF_RANDOM_PAIRS,
};
use crate::model::pattern::{CountedPatterns, Pattern};
use crate::model::values::things::{BOTH_MISSING, LEVELS, ONE_MISSING, PRESENT, UNLIKE};
use crate::model::values::EQUAL;

/// A typical match: how often the levels occur in it, those of equality as one sum. Few words are written alike more
/// often than many words and numbers.
const TYPICAL_SHORT: [f64; 1 + PRESENT - EQUAL] = [
    0.65, 0.09, 0.06, 0.05, 0.035, 0.03, 0.025, 0.02, 0.015, 0.015, 0.015,
];
const TYPICAL_LONG: [f64; 1 + PRESENT - EQUAL] = [
    0.30, 0.09, 0.09, 0.09, 0.09, 0.09, 0.08, 0.07, 0.06, 0.05, 0.05,
];

/// At most this share of the present values may be unlike in matches.
const MOST_UNLIKE_SHORT: f64 = 0.25;
const MOST_UNLIKE_LONG: f64 = 0.7;

/// The matches are fitted as if so many typical ones were there besides.
const PRIOR_PAIRS: f64 = 30.0;

/// The fit begins with so many matches for each record of the smaller side.
const FIRST_MATCHES: f64 = 0.2;

/// From which round on random pairs are cleaned of the matches found, and from which one on the shares of matches are
/// fitted, which are typical before.
const CLEAN_ROUNDS: usize = 20;
const ANCHOR_ROUNDS: usize = 60;

/// The fit stops here without having converged.
const MOST_ROUNDS: usize = 200;

/// The fit has converged when the matches change by less than this share of them.
const CONVERGED: f64 = 1e-4;

/// Cleaning leaves this share of what random pairs have.
const LEAST_CLEAN: f64 = 0.05;

/// Passes: how fields go together by chance is learned after each but the last one.
const PASSES: usize = 3;

/// How often pairs are weighed against each other in a round.
const TIMES: usize = 2;

/// What is known of a field in one table.
#[derive(Clone, Debug, Default)]
pub struct TableField {
    /// The share of the records that have a value.
    pub filled: f64,
    /// Probability that two of its records with values have an equal one of each level.
    pub equal: [f64; EQUAL],
}

/// What is known of a field.
#[derive(Clone, Debug, Default)]
pub struct ThingField {
    /// Whether its values are long texts, or numbers, which matches often do not agree in.
    pub is_long: bool,
    /// Of the records of both tables.
    pub frequencies: FieldFrequencies,
    /// Of each table.
    pub tables: [TableField; 2],
}

impl ThingField {
    /// The share of each level in a typical match.
    fn typical(&self) -> Shares {
        let [equal, unequal @ ..] = match self.is_long {
            true => TYPICAL_LONG,
            false => TYPICAL_SHORT,
        };
        let all = equal + unequal.iter().sum::<f64>();
        let mut typical = [0.0; PRESENT];
        typical[..EQUAL].copy_from_slice(&self.frequencies.spread(equal));
        typical[EQUAL..].copy_from_slice(&unequal);
        typical.map(|share| share / all)
    }

    /// What random pairs have, if they agree no more often than two records of one table do: pairs of two tables agree
    /// more often, as they have matches among them.
    fn without_matches(&self, u: &Shares) -> Shares {
        let mut u = *u;
        let [a, b] = &self.tables;
        for (u, (a, b)) in u.iter_mut().zip(a.equal.iter().zip(&b.equal)) {
            *u = u.min(*a).min(*b);
        }
        u[PRESENT - 1] += 1.0 - u.iter().sum::<f64>();
        u.map(|share| share.max(1e-12))
    }
}

/// What a fit begins with.
pub struct FitInput<'a> {
    /// The fields.
    pub fields: &'a [ThingField],
    /// The candidates.
    pub pairs: &'a mut dyn CandidatePairs,
    /// Their patterns.
    pub patterns: &'a mut dyn PatternRuns,
    /// Random pairs that are no candidates.
    pub random: &'a mut dyn CountedPatterns,
    /// The share of each mask among all pairs.
    pub masks: MaskShares,
    /// Records of both tables.
    pub records: [usize; 2],
    /// Which records have one partner at most.
    pub one_to_one: OneToOne,
}

/// What has been learned.
pub struct Fit {
    /// What it says of patterns.
    pub learned: Learned,
    /// Rounds of all passes.
    pub rounds: usize,
    /// Whether the last pass has converged.
    pub converged: bool,
}

/// Learns from candidates. `turn` is called every few milliseconds.
///
/// Errors: out of memory.
pub fn learn(input: FitInput<'_>, mut turn: impl FnMut()) -> Result<Fit> {
    let fields = input.fields;
    let [a, b] = input.records.map(|n| n as f64);
    let mut patterns = EachRun::new(input.patterns);
    let (mut candidates, mut all) = (vec![[0.0; PRESENT]; fields.len()], 0.0);
    patterns.each_block(&mut turn, |block| {
        for &(pattern, n) in block {
            all += n as f64;
            add(&mut candidates, pattern, n as f64);
        }
    });
    let mut random = Random::new(candidates, input.random, a * b - all, &mut turn);
    let first = random.shares();
    let typical: Vec<Shares> = fields.iter().map(ThingField::typical).collect();
    let without_matches = |u: &[Shares]| -> Vec<Shares> {
        let fields = fields.iter().zip(u);
        fields.map(|(field, u)| field.without_matches(u)).collect()
    };
    let begin = FIRST_MATCHES * a.min(b);
    let mut of = Learned {
        matches: begin,
        records: [a, b],
        one_to_one: input.one_to_one,
        m: typical.clone(),
        u: without_matches(&first),
        dependence: Dependence::default(),
        masks: input.masks,
        match_masks: None,
    };
    let mut competition = Competition::new(input.one_to_one, input.records)?;
    let (mut rounds, mut converged) = (0, false);
    for pass in 0..PASSES {
        (of.matches, of.m, of.match_masks) = (begin, typical.clone(), None);
        converged = false;
        for round in 0..MOST_ROUNDS {
            rounds += 1;
            let mut found = Found::new(&of, &mut patterns);
            competition.weigh(input.pairs, TIMES, &mut turn, &mut found);
            let found = found.finish();
            let before = std::mem::replace(&mut of.matches, found.matches);
            of.match_masks = Some(MatchMasks::learn(found.by_mask, found.states));
            let by_level = found.by_level;
            if round >= ANCHOR_ROUNDS {
                for (k, field) in fields.iter().enumerate() {
                    of.m[k] = fitted(field.is_long, &by_level[k], &of.u[k], &typical[k]);
                }
            }
            if round >= CLEAN_ROUNDS {
                let clean = |(k, field): (usize, &ThingField)| {
                    let filled = field.tables[0].filled * field.tables[1].filled;
                    let pairs = a * b * filled.max(1e-9);
                    let left = |level: usize| {
                        let u = first[k][level];
                        (u - by_level[k][level] / pairs).max(LEAST_CLEAN * u)
                    };
                    normal(std::array::from_fn(left))
                };
                let cleaned: Vec<Shares> = fields.iter().enumerate().map(clean).collect();
                of.u = without_matches(&cleaned);
            }
            // negated, so that matches that are no number end it
            let changes = (of.matches - before).abs() >= CONVERGED * of.matches + 1e-6;
            if round > ANCHOR_ROUNDS + 5 && !changes {
                converged = of.matches.is_finite();
                break;
            }
        }
        if pass + 1 < PASSES {
            let mut joint = JointLevels::new(fields.len());
            patterns.rewind();
            let (mut pattern, mut others) = (Pattern::default(), 0.0);
            each_pair(input.pairs, &mut turn, |pair| {
                if let Some((next, n)) = patterns.next_pair() {
                    joint.add(pattern, f64::max(others, 0.0));
                    (pattern, others) = (next, n as f64);
                }
                others -= competition.probability(pair);
            });
            joint.add(pattern, f64::max(others, 0.0));
            of.dependence = random.dependence(joint, &mut turn);
        }
    }
    Ok(Fit {
        learned: of,
        rounds,
        converged,
    })
}

/// The matches that a round finds, while the pairs are weighed.
struct Found<'f, 'r> {
    odds: Odds<'f>,
    masks: &'f MaskShares,
    patterns: &'f mut EachRun<'r>,
    /// The odds of the pattern whose pairs come.
    of_pattern: f64,
    /// The pattern whose pairs have come, and how many of these are matches.
    pattern: Option<(Pattern, f64)>,
    matches: f64,
    by_level: Vec<[f64; LEVELS]>,
    by_mask: BTreeMap<Mask, f64>,
}

/// The matches of a round, by level, by mask, and by whether values are missing.
struct Matches {
    matches: f64,
    by_level: Vec<Shares>,
    by_mask: Vec<(Mask, f64)>,
    states: States,
}

impl<'f, 'r> Found<'f, 'r> {
    fn new(of: &'f Learned, patterns: &'f mut EachRun<'r>) -> Found<'f, 'r> {
        patterns.rewind();
        Found {
            odds: Odds::new(of),
            masks: &of.masks,
            patterns,
            of_pattern: 0.0,
            pattern: None,
            matches: 0.0,
            by_level: vec![[0.0; LEVELS]; of.m.len()],
            by_mask: BTreeMap::new(),
        }
    }

    fn end_pattern(&mut self) {
        let Some((pattern, n)) = self.pattern.take() else {
            return;
        };
        self.matches += n;
        for (k, levels) in self.by_level.iter_mut().enumerate() {
            levels[pattern.level(k)] += n;
        }
        let mask = Mask::of(pattern, self.by_level.len());
        if self.masks.knows(mask) {
            *self.by_mask.entry(mask).or_default() += n;
        }
    }

    fn finish(mut self) -> Matches {
        self.end_pattern();
        let present = |levels: &[f64; LEVELS]| std::array::from_fn(|level| levels[level]);
        let states = |levels: &[f64; LEVELS]| {
            let there = levels[..PRESENT].iter().sum();
            [there, levels[ONE_MISSING], levels[BOTH_MISSING]]
        };
        Matches {
            matches: self.matches,
            states: self.by_level.iter().map(states).collect(),
            by_level: self.by_level.iter().map(present).collect(),
            by_mask: self.by_mask.into_iter().collect(),
        }
    }
}

impl Weighed for Found<'_, '_> {
    fn odds(&mut self, _: &CandidatePair) -> f64 {
        if let Some((pattern, _)) = self.patterns.next_pair() {
            self.of_pattern = self.odds.of(pattern);
        }
        self.of_pattern
    }

    fn weighed(&mut self, _: &CandidatePair, probability: f64) {
        if let Some((pattern, _)) = self.patterns.next_pair() {
            self.end_pattern();
            self.pattern = Some((pattern, 0.0));
        }
        if let Some((_, n)) = &mut self.pattern {
            *n += probability;
        }
    }
}

/// The shares among matches of the levels of a field.
fn fitted(is_long: bool, found: &Shares, u: &Shares, typical: &Shares) -> Shares {
    let share = |level: usize| found[level] + 0.05 * u[level] + 1e-6 + PRIOR_PAIRS * typical[level];
    let mut m = normal(std::array::from_fn(share));
    make_monotone(&mut m, u);
    let most = match is_long {
        true => MOST_UNLIKE_LONG,
        false => MOST_UNLIKE_SHORT,
    };
    cap_unlike(&mut m, PRESENT - UNLIKE..PRESENT, most);
    m
}

fn normal(shares: Shares) -> Shares {
    let all: f64 = shares.iter().sum();
    shares.map(|share| share / all)
}

/// Adds so many pairs of a pattern, by field and level.
fn add(all: &mut [Shares], pattern: Pattern, n: f64) {
    for (k, all) in all.iter_mut().enumerate() {
        if let Some(sum) = all.get_mut(pattern.level(k)) {
            *sum += n;
        }
    }
}

/// What is known of all pairs: the candidates are counted, the others are seen by random ones, each of which stands for
/// so many.
struct Random<'a> {
    pairs: &'a mut dyn CountedPatterns,
    weight: f64,
    /// Pairs by field and level: candidates, and random ones.
    candidates: Vec<Shares>,
    others: Vec<Shares>,
}

impl<'a> Random<'a> {
    /// Beside candidates there are so many `others`.
    fn new(
        candidates: Vec<Shares>,
        pairs: &'a mut dyn CountedPatterns,
        others: f64,
        turn: impl FnMut(),
    ) -> Random<'a> {
        let (mut by_level, mut all) = (vec![[0.0; PRESENT]; candidates.len()], 0.0);
        each_random(pairs, turn, |pattern, n| {
            all += n;
            add(&mut by_level, pattern, n);
        });
        Random {
            candidates,
            pairs,
            weight: others.max(0.0) / f64::max(all, 1.0),
            others: by_level,
        }
    }

    /// The share of each level where both values are there.
    fn shares(&self) -> Vec<Shares> {
        let fields = self.candidates.iter().zip(&self.others);
        let shares = |(candidates, others): (&Shares, &Shares)| {
            let pairs = |level: usize| candidates[level] + others[level] * self.weight + 0.02;
            normal(std::array::from_fn(pairs))
        };
        fields.map(shares).collect()
    }

    /// How fields go together in pairs that are no matches, of which `joint` has the candidates.
    fn dependence(&mut self, mut joint: JointLevels<PRESENT>, turn: impl FnMut()) -> Dependence {
        let weight = self.weight;
        each_random(self.pairs, turn, |pattern, n| {
            joint.add(pattern, n * weight)
        });
        Dependence::learn(&joint, &OF_RANDOM_PAIRS)
    }
}

/// Gives the patterns of random pairs to `each`, with how many pairs have them.
fn each_random(
    pairs: &mut dyn CountedPatterns,
    mut turn: impl FnMut(),
    mut each: impl FnMut(Pattern, f64),
) {
    pairs.each_block(&mut |block| {
        for some in block.chunks(4096) {
            turn();
            some.iter()
                .for_each(|&(pattern, n)| each(pattern, n as f64));
        }
    });
}
