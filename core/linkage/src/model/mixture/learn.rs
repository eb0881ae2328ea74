//! Fits until what is known of random pairs is free of matches, and every class explains something.

use super::chance::pairs_by_level;
use super::classes::ClassLogs;
use super::dependence::{JointLevels, OF_MATCHES, OF_RANDOM_PAIRS};
use super::em::{Outcome, Setting};
use super::{
    Chance, ClassFit, ClassKind, ClassSet, Dependence, Evidence, FieldFrequencies, Helpers,
    PatternLogs, Swap, LEAST_CLASS, LEAST_CLEAN, LEAST_HOUSEHOLDS, PASSES,
};
use crate::model::pattern::{CountedPatterns, Pattern};
use crate::model::values::{EQUAL, MISSING, PRESENT, SWAPPED};
use crate::model::MOST_FIELDS;

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
    pub sets: Vec<ClassSet>,
}

/// What has been learned.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The share of each level among random pairs, by field.
    pub chance: Vec<Chance>,
    /// How fields go together by chance.
    pub dependence: Dependence,
    /// How fields go together in matches.
    pub match_dependence: Dependence,
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
        match_dependence: Dependence::default(),
        classes: Vec::new(),
        rounds: 0,
        converged: false,
    };
    let mut sets = input.sets;
    // Where nothing is personal, matches that are alike in some fields only are no movers but other things.
    let families = sets.iter().find(|set| set.kind == ClassKind::Family);
    let personal = families.map_or(0, |set| set.chance);
    for pass in 0..PASSES {
        let setting = Setting::new(
            &fit.chance,
            &fit.dependence,
            &fit.match_dependence,
            input.all_pairs,
            input.records,
        );
        let (outcome, rounds) = fit_classes(
            &setting,
            &mut sets,
            &mut input.evidence,
            input.helpers,
            input.records,
            &mut turn,
        );
        let mut joint = JointLevels::new(fields);
        let mut in_matches = JointLevels::new(fields);
        if pass + 1 < PASSES {
            let logs = |class: &ClassFit| ClassLogs::new(class.pairs, &class.shares);
            let classes: Vec<ClassLogs> = outcome.classes.iter().map(logs).collect();
            let matches = |pattern, logs: PatternLogs| classes[0].log(pattern) + logs.matches;
            input.random.each_block(&mut |block| {
                for some in block.chunks(4096) {
                    turn();
                    for &(pattern, n) in some {
                        let logs = setting.logs(pattern);
                        let log = matches(pattern, logs) - logs.random;
                        joint.add(pattern, n as f64 / (1.0 + log.clamp(-50.0, 50.0).exp()));
                    }
                }
            });
            if personal != 0 {
                input.evidence.each(&mut turn, |_, known| {
                    if !is_surely_one(known.pattern, personal) {
                        return;
                    }
                    let logs = setting.logs(known.pattern);
                    let log = matches(known.pattern, logs);
                    let others = classes[1..].iter().map(|class| class.log(known.pattern));
                    let others = others.chain([logs.random]).map(|other| (other - log).exp());
                    let share = match known.label {
                        Some(same) => f64::from(u8::from(same)),
                        None => 1.0 / (1.0 + others.sum::<f64>()),
                    };
                    in_matches.add(known.pattern, known.pairs * share);
                });
            }
        }
        fit.rounds += rounds;
        fit.converged = outcome.converged;
        fit.classes = outcome.classes;
        if pass + 1 < PASSES {
            turn();
            for (k, chance) in fit.chance.iter_mut().enumerate() {
                clean(chance, &first[k], &fit.classes[0], k, input.all_pairs);
            }
            fit.dependence = Dependence::learn(&joint, &OF_RANDOM_PAIRS);
            if personal != 0 {
                fit.match_dependence = Dependence::learn(&in_matches, &OF_MATCHES);
            }
        }
    }
    fit
}

/// Whether a pair of this pattern is equal in two personal fields, and differs in none. What goes together in matches is
/// learned from these: learned from all that are matches by what was learned before, it grows without end where a table
/// is so large that pairs are alike in what goes together by chance.
fn is_surely_one(pattern: Pattern, personal: u32) -> bool {
    let levels = (0..MOST_FIELDS).filter(|k| personal >> k & 1 == 1);
    let mut equal = 0;
    for level in levels.map(|k| pattern.level(k)) {
        match level {
            MISSING => (),
            level if level < EQUAL => equal += 1,
            _ => return false,
        }
    }
    equal >= 2
}

/// Fits, and drops the classes that explain next to nothing: they only take from the matches.
fn fit_classes(
    setting: &Setting<'_>,
    sets: &mut Vec<ClassSet>,
    evidence: &mut Evidence<'_>,
    helpers: &mut dyn Helpers,
    records: f64,
    mut turn: impl FnMut(),
) -> (Outcome, usize) {
    let mut rounds = 0;
    loop {
        let outcome = setting.fit(sets, evidence, helpers, &mut turn);
        rounds += outcome.rounds;
        let is_kept = |class: &&ClassFit| match class.set.kind {
            ClassKind::Plain => class.pairs >= LEAST_CLASS * records,
            ClassKind::Family | ClassKind::Household => class.pairs >= LEAST_HOUSEHOLDS * records,
        };
        let kept = outcome.classes[1..].iter().filter(is_kept);
        let kept: Vec<ClassSet> = kept.map(|class| class.set).collect();
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
