//! What has been learned of matches says of a pattern, before other pairs compete with it.

use super::missing::{Mask, MaskShares, MatchMasks};
use super::{Dependence, OneToOne, Shares};
use crate::model::pattern::{Pattern, PatternBlock};

/// Odds are between e^-60 and e^60, so that their sums are numbers.
const GREATEST: f64 = 60.0;

/// What people have judged the same has greater odds than any pattern. Odds are kept as `f32`, which ends at e^88.
const JUDGED: f64 = 80.0;

/// However many records have a partner, this share has none.
const LEAST_FREE: f64 = 0.1;

/// Shares that are less count as this much.
const LEAST_SHARE: f64 = 1e-12;

/// What has been learned, for tables of so many records.
#[derive(Clone, Debug)]
pub struct Learned {
    /// Matches that are expected.
    pub matches: f64,
    /// Records of both tables.
    pub records: [f64; 2],
    /// Which records have one partner at most.
    pub one_to_one: OneToOne,
    /// The levels' shares among matches, by field.
    pub m: Vec<Shares>,
    /// Those among random pairs.
    pub u: Vec<Shares>,
    /// How fields go together by chance.
    pub dependence: Dependence,
    /// The masks of all pairs.
    pub masks: MaskShares,
    /// Those of matches, if they are known to have others.
    pub match_masks: Option<MatchMasks>,
}

/// The odds of patterns, from what has been learned.
pub struct Odds<'l> {
    of: &'l Learned,
    of_all: f64,
    levels: Vec<Shares>,
    /// The last mask, and what it says: patterns of one mask often follow each other.
    last: Option<(Mask, f64)>,
}

impl<'l> Odds<'l> {
    /// By what has been learned.
    pub fn new(of: &'l Learned) -> Odds<'l> {
        let [a, b] = of.records;
        // A pair whose records have no other one is more probably a match the fewer records have no partner.
        let free = 1.0 - of.matches / of.one_to_one.most_matches(of.records).max(1.0);
        let of_all = of.matches.max(1e-9).ln() - (a * b).max(1.0).ln();
        let log = |share: f64| share.max(LEAST_SHARE).ln();
        let logs = |(m, u): (&Shares, &Shares)| -> Shares {
            std::array::from_fn(|level| log(m[level]) - log(u[level]))
        };
        Odds {
            of_all: of_all - free.clamp(LEAST_FREE, 1.0).ln(),
            levels: of.m.iter().zip(&of.u).map(logs).collect(),
            last: None,
            of,
        }
    }

    /// How many times more often a pair of a pattern is a match than not.
    pub fn of(&mut self, pattern: Pattern) -> f64 {
        let mask = Mask::of(pattern, self.levels.len());
        let of_mask = match (self.last, &self.of.match_masks) {
            (Some((last, log)), _) if last == mask => log,
            (_, Some(matches)) => matches.log(mask, &self.of.masks),
            (_, None) => 0.0,
        };
        self.last = Some((mask, of_mask));
        let levels = self.levels.iter().enumerate();
        let levels = levels.filter_map(|(k, logs)| logs.get(pattern.level(k)));
        let log = self.of_all + of_mask + levels.sum::<f64>() - self.of.dependence.log(pattern);
        log.clamp(-GREATEST, GREATEST).exp()
    }

    /// The odds of a pair that people have judged the same, or different: no other pair of its records has a chance
    /// against the one, and it has none against them as the other.
    pub fn judged(are_same: bool) -> f64 {
        if are_same {
            JUDGED.exp()
        } else {
            0.0
        }
    }
}

/// The patterns of the candidates in their order, each with how many candidates have it. They may be more than fit into
/// memory.
pub trait PatternRuns {
    /// Writes some of them to `to`, from the one of this number on; none if there are no more.
    fn read(&mut self, first: u64, to: &mut Vec<(Pattern, u64)>);
}

/// In their order, each once.
impl PatternRuns for Vec<(Pattern, u64)> {
    fn read(&mut self, first: u64, to: &mut Vec<(Pattern, u64)>) {
        to.clear();
        to.extend(self.iter().skip(first as usize).take(1000));
    }
}

/// Goes through the patterns of the candidates, from the first to the last one and again.
pub struct EachRun<'r> {
    runs: &'r mut dyn PatternRuns,
    /// Some of them, and how many come before the first of these.
    block: Vec<(Pattern, u64)>,
    first: u64,
    /// The next one of them.
    at: usize,
    /// So many candidates of the one before it are left.
    left: u64,
}

impl<'r> EachRun<'r> {
    /// Begins with the first candidate.
    pub fn new(runs: &'r mut dyn PatternRuns) -> EachRun<'r> {
        EachRun {
            runs,
            block: Vec::new(),
            first: 0,
            at: 0,
            left: 0,
        }
    }

    /// The pattern of the next candidate, and of how many, if it is another one than that of the candidate before.
    #[inline]
    pub fn next_pair(&mut self) -> Option<(Pattern, u64)> {
        if self.left > 0 {
            self.left -= 1;
            return None;
        }
        // behind the last one the first one comes again
        let run = self.next_run().or_else(|| self.next_run())?;
        self.left = run.1.saturating_sub(1);
        Some(run)
    }

    /// The next pattern; `None` behind the last one, after which the first one comes again.
    pub fn next_run(&mut self) -> Option<(Pattern, u64)> {
        if self.at == self.block.len() {
            self.first += self.block.len() as u64;
            self.runs.read(self.first, &mut self.block);
            self.at = 0;
        }
        let run = self.block.get(self.at).copied();
        match run {
            Some(_) => self.at += 1,
            None => self.first = 0,
        }
        run
    }

    /// All of them, from the first one on. `turn` is called for each block.
    pub fn each_block(&mut self, mut turn: impl FnMut(), mut each: impl FnMut(&PatternBlock)) {
        self.rewind();
        loop {
            turn();
            self.runs.read(self.first, &mut self.block);
            if self.block.is_empty() {
                break;
            }
            each(&self.block);
            self.first += self.block.len() as u64;
        }
        self.rewind();
    }

    /// The next candidate is the first one.
    pub fn rewind(&mut self) {
        self.block.clear();
        (self.first, self.at, self.left) = (0, 0, 0);
    }
}
