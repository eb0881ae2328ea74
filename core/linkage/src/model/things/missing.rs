//! Which values a pair lacks. A table lacks values as its owner enters them, many of a record at once; so the fields'
//! shares do not say how often a pair lacks some of them, but the records do.

use std::collections::BTreeMap;

use crate::model::pattern::Pattern;
use crate::model::values::things::{BOTH_MISSING, ONE_MISSING};

/// Kinds of records by what they lack; of more, the most frequent ones count.
const MOST_KINDS: usize = 4096;

/// A mask that no two records make has this share of all pairs.
const LEAST_SHARE: f64 = 1e-15;

/// The masks of matches are learned as if so many pairs were there besides, whose fields lack values by themselves.
const PRIOR_PAIRS: f64 = 30.0;

/// Whether both values are there, one of them, or none.
const STATES: usize = 3;

/// The fields that a pair lacks, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mask {
    /// On one side.
    pub one: u32,
    /// On both sides.
    pub both: u32,
}

impl Mask {
    /// Of a pair of so many fields.
    pub fn of(pattern: Pattern, fields: usize) -> Mask {
        let with = |level: usize| {
            let fields = (0..fields).filter(|&k| pattern.level(k) == level);
            fields.fold(0, |mask, k| mask | 1 << k)
        };
        Mask {
            one: with(ONE_MISSING),
            both: with(BOTH_MISSING),
        }
    }

    fn state(self, field: usize) -> usize {
        ((self.one >> field & 1) + 2 * (self.both >> field & 1)) as usize
    }
}

/// How many records of a table lack which fields.
#[derive(Clone, Debug, Default)]
pub struct RecordMasks(BTreeMap<u32, u64>);

impl RecordMasks {
    /// A record that lacks these fields, as bits.
    pub fn add(&mut self, lacks: u32) {
        *self.0.entry(lacks).or_default() += 1;
    }

    /// The most frequent kinds of records.
    fn kinds(&self) -> Vec<(u32, u64)> {
        let mut kinds: Vec<(u32, u64)> = self.0.iter().map(|(&lacks, &n)| (lacks, n)).collect();
        kinds.sort_by_key(|&(lacks, n)| (std::cmp::Reverse(n), lacks));
        kinds.truncate(MOST_KINDS);
        kinds
    }
}

/// The share of each mask among all pairs of two tables.
#[derive(Clone, Debug, Default)]
pub struct MaskShares(BTreeMap<Mask, f64>);

impl MaskShares {
    /// Of the records of both tables. `turn` is called every few milliseconds.
    pub fn new(a: &RecordMasks, b: &RecordMasks, mut turn: impl FnMut()) -> MaskShares {
        let (of_a, of_b) = (a.kinds(), b.kinds());
        let mut shares = BTreeMap::<Mask, f64>::new();
        let all = |kinds: &[(u32, u64)]| kinds.iter().map(|kind| kind.1 as f64).sum::<f64>();
        let pairs = (all(&of_a) * all(&of_b)).max(1.0);
        for &(x, n) in &of_a {
            turn();
            for &(y, m) in &of_b {
                let mask = Mask {
                    one: x ^ y,
                    both: x & y,
                };
                *shares.entry(mask).or_default() += n as f64 * m as f64 / pairs;
            }
        }
        MaskShares(shares)
    }

    /// The share of a mask.
    pub fn of(&self, mask: Mask) -> f64 {
        self.0.get(&mask).copied().unwrap_or(0.0).max(LEAST_SHARE)
    }
}

/// The share of each mask among matches.
#[derive(Clone, Debug)]
pub struct MatchMasks {
    /// How many matches have each mask that candidates have.
    matches: Vec<(Mask, f64)>,
    /// For each field the shares of its states.
    states: Vec<[f64; STATES]>,
    /// All matches, and what the shares by the states make of all masks.
    all: f64,
    by_states: f64,
}

impl MatchMasks {
    /// Of so many fields, learned from how many matches have each mask that candidates have, in the order of the masks.
    pub fn learn(matches: Vec<(Mask, f64)>, fields: usize) -> MatchMasks {
        let all: f64 = matches.iter().map(|of| of.1).sum();
        let states = |k: usize| {
            let mut states = [0.01; STATES];
            for (mask, n) in &matches {
                states[mask.state(k)] += n;
            }
            states.map(|n| (n / (all + 0.03)).max(1e-9))
        };
        let mut learned = MatchMasks {
            states: (0..fields).map(states).collect(),
            matches,
            all,
            by_states: 1.0,
        };
        let by_states = learned.matches.iter().map(|of| learned.by_states(of.0));
        learned.by_states = by_states.sum::<f64>().max(LEAST_SHARE);
        learned
    }

    /// How many matches have each mask that candidates have.
    pub fn matches(&self) -> &[(Mask, f64)] {
        &self.matches
    }

    /// The share of a mask if each field lacks values by itself.
    fn by_states(&self, mask: Mask) -> f64 {
        let states = self.states.iter().enumerate();
        states.map(|(k, states)| states[mask.state(k)]).product()
    }

    /// The share of a mask.
    pub fn of(&self, mask: Mask) -> f64 {
        let known = self.matches.binary_search_by_key(&mask, |of| of.0);
        let known = known.map_or(0.0, |at| self.matches[at].1);
        let by_states = self.by_states(mask) / self.by_states;
        (known + PRIOR_PAIRS * by_states) / (self.all + PRIOR_PAIRS)
    }
}
