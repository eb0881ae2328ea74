//! Fits until what is known of random pairs is free of matches, and every class explains something.

use super::chance::pairs_by_level;
use super::dependence::JointLevels;
use super::em::{Outcome, Setting};
use super::{
    Chance, ClassFit, Dependence, Evidence, FieldFrequencies, Helpers, Shares, Swap, LEAST_CLASS,
    LEAST_CLEAN, PASSES,
};
use crate::model::pattern::{CountedPatterns, Pattern};
use crate::model::values::{MISSING, PRESENT, SWAPPED};

/// What a fit begins with.
pub struct FitInput<'a> {
    /// One for each field.
    pub frequencies: &'a [FieldFrequencies],
    /// Random pairs of the records that count.
    pub random: &'a mut dyn CountedPatterns,
    /// The candidates.
    pub evidence: Evidence<'a>,
    /// Who computes beside this process.
    pub helpers: &'a mut dyn Helpers,
    /// All pairs of the records that count.
    pub all_pairs: f64,
    /// Records, of both tables.
    pub records: f64,
    /// Two fields whose values may have changed places.
    pub swap: Option<[usize; 2]>,
    /// The sets of fields of the other classes, by `class_sets`.
    pub sets: Vec<u32>,
}

/// What has been learned.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The share of each level among random pairs, by field.
    pub chance: Vec<Chance>,
    /// How fields go together by chance.
    pub dependence: Dependence,
    /// The matches, and the other classes.
    pub classes: Vec<ClassFit>,
    /// Rounds of all passes.
    pub rounds: usize,
    /// Whether the last pass has converged.
    pub converged: bool,
}

/// Learns a model. `turn` is called every few milliseconds.
pub fn learn(mut input: FitInput<'_>, mut turn: impl FnMut()) -> Fit {
    let fields = input.frequencies.len();
    let random = pairs_by_level(input.random, fields, &mut turn);
    let first: Vec<Chance> = (0..fields)
        .map(|k| Chance::new(&input.frequencies[k], &random[k], Swap::new(k, input.swap)))
        .collect();
    let mut fit = Fit {
        chance: first.clone(),
        dependence: Dependence::default(),
        classes: Vec::new(),
        rounds: 0,
        converged: false,
    };
    let mut sets = input.sets;
    for pass in 0..PASSES {
        let setting = Setting::new(&fit.chance, &fit.dependence, input.all_pairs, input.records);
        let (outcome, rounds) = fit_classes(
            &setting,
            &mut sets,
            &mut input.evidence,
            input.helpers,
            input.records,
            &mut turn,
        );
        let mut joint = JointLevels::new(fields);
        if pass + 1 < PASSES {
            let matches = MatchLogs::new(&outcome.classes[0]);
            input.random.each_block(&mut |block| {
                for some in block.chunks(4096) {
                    turn();
                    for &(pattern, n) in some {
                        let log = matches.log(pattern) - setting.random(pattern);
                        joint.add(pattern, n as f64 / (1.0 + log.clamp(-50.0, 50.0).exp()));
                    }
                }
            });
        }
        fit.rounds += rounds;
        fit.converged = outcome.converged;
        fit.classes = outcome.classes;
        if pass + 1 < PASSES {
            turn();
            for (k, chance) in fit.chance.iter_mut().enumerate() {
                clean(chance, &first[k], &fit.classes[0], k, input.all_pairs);
            }
            fit.dependence = Dependence::learn(&joint);
        }
    }
    fit
}

/// Logarithms of the class of matches.
struct MatchLogs {
    pairs: f64,
    shares: Vec<Shares>,
}

impl MatchLogs {
    fn new(class: &ClassFit) -> MatchLogs {
        let logs = |shares: &Shares| shares.map(|share| share.max(1e-12).ln());
        MatchLogs {
            pairs: class.pairs.max(1e-9).ln(),
            shares: class.shares.iter().map(logs).collect(),
        }
    }

    /// Of the expected matches of a pattern.
    fn log(&self, pattern: Pattern) -> f64 {
        let shares = self.shares.iter().enumerate();
        self.pairs + shares.map(|(k, logs)| logs[pattern.level(k)]).sum::<f64>()
    }
}

/// Fits, and drops the classes that explain next to nothing: they only take from the matches.
fn fit_classes(
    setting: &Setting<'_>,
    sets: &mut Vec<u32>,
    evidence: &mut Evidence<'_>,
    helpers: &mut dyn Helpers,
    records: f64,
    mut turn: impl FnMut(),
) -> (Outcome, usize) {
    let mut rounds = 0;
    loop {
        let outcome = setting.fit(sets, evidence, helpers, &mut turn);
        rounds += outcome.rounds;
        let least = LEAST_CLASS * records;
        let kept: Vec<u32> = outcome.classes[1..]
            .iter()
            .filter(|class| class.pairs >= least)
            .map(|class| class.chance)
            .collect();
        if kept.len() == sets.len() {
            return (outcome, rounds);
        }
        *sets = kept;
    }
}

/// Takes the matches that were found out of what random pairs have.
fn clean(chance: &mut Chance, first: &Chance, matches: &ClassFit, field: usize, all_pairs: f64) {
    let mut u = first.u;
    // where the second field of two is silent, its share of 1 is none
    let spoken = |level: usize| level != SWAPPED || chance.swap != Swap::Silent;
    for level in (0..PRESENT).filter(|&level| spoken(level)) {
        let found = matches.shares[field][level] * matches.pairs / all_pairs;
        u[level] = (first.u[level] - found).max(LEAST_CLEAN * first.u[level]);
    }
    if chance.swap == Swap::Silent {
        u[SWAPPED] = 0.0;
    }
    let present: f64 = u[..PRESENT].iter().sum();
    for share in &mut u[..PRESENT] {
        *share *= (1.0 - first.u[MISSING]) / present;
    }
    if chance.swap == Swap::Silent {
        u[SWAPPED] = 1.0;
    }
    chance.u = u;
}
