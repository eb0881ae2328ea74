//! Which values a pair lacks. A table lacks values as its owner enters them, many of a record at once; so the fields'
//! shares do not say how often a pair lacks some of them, but the records do.

use std::collections::BTreeMap;

use crate::model::pattern::Pattern;
use crate::model::values::things::{BOTH_MISSING, ONE_MISSING};

/// Kinds of records by what they lack, of which so many, the most frequent ones, are told apart. Pairs of other records
/// have the share that their fields give, each by itself.
const MOST_KINDS: usize = 256;

/// Kinds of a table that are counted; what comes later is not told apart.
const MOST_COUNTED: usize = 1 << 16;

/// Shares are at least this.
const LEAST_SHARE: f64 = 1e-15;

/// The masks of matches are learned as if so many pairs were there besides, whose fields lack values by themselves.
const PRIOR_PAIRS: f64 = 30.0;

/// Whether both values are there, one of them, or none.
pub const STATES: usize = 3;

/// For each field the share of each state.
pub type States = Vec<[f64; STATES]>;

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
        let mut mask = Mask::default();
        for k in 0..fields {
            match pattern.level(k) {
                ONE_MISSING => mask.one |= 1 << k,
                BOTH_MISSING => mask.both |= 1 << k,
                _ => (),
            }
        }
        mask
    }

    fn state(self, field: usize) -> usize {
        ((self.one >> field & 1) + 2 * (self.both >> field & 1)) as usize
    }

    /// Its share, if each field lacks values by itself.
    fn share(self, states: &States) -> f64 {
        let states = states.iter().enumerate();
        states.map(|(k, states)| states[self.state(k)]).product()
    }
}

/// How many records of a table lack which fields.
#[derive(Clone, Debug, Default)]
pub struct RecordMasks {
    kinds: BTreeMap<u32, u64>,
    /// Records that lack each field, and all.
    lacking: [u64; u32::BITS as usize],
    records: u64,
}

impl RecordMasks {
    /// A record that lacks these fields, as bits.
    pub fn add(&mut self, lacks: u32) {
        self.records += 1;
        for (k, records) in self.lacking.iter_mut().enumerate() {
            *records += u64::from(lacks >> k & 1);
        }
        if self.kinds.len() < MOST_COUNTED || self.kinds.contains_key(&lacks) {
            *self.kinds.entry(lacks).or_default() += 1;
        }
    }

    /// The most frequent kinds of records.
    fn kinds(&self) -> Vec<(u32, u64)> {
        let mut kinds: Vec<(u32, u64)> = self.kinds.iter().map(|(&lacks, &n)| (lacks, n)).collect();
        kinds.sort_by_key(|&(lacks, n)| (std::cmp::Reverse(n), lacks));
        kinds.truncate(MOST_KINDS);
        kinds
    }

    /// The share of the records that lack a field.
    fn lacking(&self, field: usize) -> f64 {
        self.lacking[field] as f64 / self.records.max(1) as f64
    }
}

/// The share of each mask among all pairs of two tables.
#[derive(Clone, Debug, Default)]
pub struct MaskShares {
    known: BTreeMap<Mask, f64>,
    states: States,
}

impl MaskShares {
    /// Of the records of both tables, which have so many fields. `turn` is called every few milliseconds.
    pub fn new(
        a: &RecordMasks,
        b: &RecordMasks,
        fields: usize,
        mut turn: impl FnMut(),
    ) -> MaskShares {
        let (of_a, of_b) = (a.kinds(), b.kinds());
        let mut known = BTreeMap::<Mask, f64>::new();
        let pairs = (a.records as f64 * b.records as f64).max(1.0);
        for &(x, n) in &of_a {
            turn();
            for &(y, m) in &of_b {
                let mask = Mask {
                    one: x ^ y,
                    both: x & y,
                };
                *known.entry(mask).or_default() += n as f64 * m as f64 / pairs;
            }
        }
        let states = |k: usize| {
            let (a, b) = (a.lacking(k), b.lacking(k));
            let states = [(1.0 - a) * (1.0 - b), a * (1.0 - b) + (1.0 - a) * b, a * b];
            states.map(|share| share.max(LEAST_SHARE))
        };
        MaskShares {
            known,
            states: (0..fields).map(states).collect(),
        }
    }

    /// Whether pairs of a mask are told apart from others.
    pub fn knows(&self, mask: Mask) -> bool {
        self.known.contains_key(&mask)
    }
}

/// The share of each mask among matches.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchMasks {
    /// How many matches have each mask that candidates have, in the order of the masks.
    pub matches: Vec<(Mask, f64)>,
    /// For each field the shares of its states.
    pub states: States,
    /// All matches whose mask is told apart.
    pub all: f64,
    /// What the shares of the states make of all masks that candidates have.
    pub by_states: f64,
}

impl MatchMasks {
    /// Learned from how many matches have each mask that candidates have, in the order of the masks, and how many have
    /// each state of each field.
    pub fn learn(matches: Vec<(Mask, f64)>, states: States) -> MatchMasks {
        let all: f64 = matches.iter().map(|of| of.1).sum();
        let share = |states: [f64; STATES]| {
            let sum: f64 = states.iter().sum();
            states.map(|n| ((n + 0.01) / (sum + 0.03)).max(1e-9))
        };
        let states: States = states.into_iter().map(share).collect();
        let by_states: f64 = matches.iter().map(|of| of.0.share(&states)).sum();
        MatchMasks {
            states,
            matches,
            all,
            by_states: by_states.max(LEAST_SHARE),
        }
    }

    /// Logarithm of how many times more often matches have a mask than all pairs.
    pub fn log(&self, mask: Mask, all_pairs: &MaskShares) -> f64 {
        let Some(of_all) = all_pairs.known.get(&mask) else {
            return self.log_by_states(mask, all_pairs);
        };
        let known = self.matches.binary_search_by_key(&mask, |of| of.0);
        let known = known.map_or(0.0, |at| self.matches[at].1);
        let by_states = mask.share(&self.states) / self.by_states;
        let share = (known + PRIOR_PAIRS * by_states) / (self.all + PRIOR_PAIRS);
        (share.max(LEAST_SHARE) / of_all.max(LEAST_SHARE)).ln()
    }

    /// The same, if each field lacks values by itself.
    fn log_by_states(&self, mask: Mask, all_pairs: &MaskShares) -> f64 {
        let fields = self.states.iter().zip(&all_pairs.states).enumerate();
        let logs = fields.map(|(k, (of_matches, of_all))| {
            let state = mask.state(k);
            (of_matches[state].max(LEAST_SHARE) / of_all[state].max(LEAST_SHARE)).ln()
        });
        logs.sum()
    }
}
