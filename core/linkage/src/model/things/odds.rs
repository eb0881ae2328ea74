//! What has been learned of matches says of a pattern, before other pairs compete with it.

use super::missing::{Mask, MaskShares, MatchMasks};
use super::{Dependence, OneToOne, Shares};
use crate::model::pattern::Pattern;

/// Odds are between e^-60 and e^60, so that their sums are numbers.
const GREATEST: f64 = 60.0;

/// However many records have a partner, this share has none.
const LEAST_FREE: f64 = 0.1;

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

/// The patterns of the candidates.
pub struct Patterns {
    patterns: Vec<Pattern>,
    /// The masks, and the number of that of each pattern.
    masks: Vec<Mask>,
    mask_of: Vec<u32>,
}

impl Patterns {
    /// Different patterns of so many fields.
    pub fn new(patterns: Vec<Pattern>, fields: usize) -> Patterns {
        let of: Vec<Mask> = patterns.iter().map(|&p| Mask::of(p, fields)).collect();
        let mut masks = of.clone();
        masks.sort_unstable();
        masks.dedup();
        let number = |mask: &Mask| masks.partition_point(|other| other < mask) as u32;
        Patterns {
            mask_of: of.iter().map(number).collect(),
            masks,
            patterns,
        }
    }

    /// All of them, by their numbers.
    pub fn all(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Adds up what patterns have, by their masks, which come in their order.
    pub fn by_mask(&self, of_patterns: &[f64]) -> Vec<(Mask, f64)> {
        let mut all: Vec<(Mask, f64)> = self.masks.iter().map(|&mask| (mask, 0.0)).collect();
        for (&mask, n) in self.mask_of.iter().zip(of_patterns) {
            all[mask as usize].1 += n;
        }
        all
    }

    /// Writes to `odds` how many times more often a pair of each pattern is a match than not. `turn` is called every
    /// few milliseconds.
    pub fn odds(&self, of: &Learned, odds: &mut Vec<f64>, mut turn: impl FnMut()) {
        let [a, b] = of.records;
        // A pair whose records have no other one is more probably a match the fewer records have no partner.
        let free = 1.0 - of.matches / of.one_to_one.most_matches(of.records).max(1.0);
        let of_all = of.matches.max(1e-9).ln() - (a * b).max(1.0).ln();
        let of_all = of_all - free.clamp(LEAST_FREE, 1.0).ln();
        let logs = |(m, u): (&Shares, &Shares)| -> Shares {
            std::array::from_fn(|level| m[level].max(1e-12).ln() - u[level].ln())
        };
        let levels: Vec<Shares> = of.m.iter().zip(&of.u).map(logs).collect();
        let of_mask = |&mask: &Mask| match &of.match_masks {
            Some(matches) => matches.of(mask).ln() - of.masks.of(mask).ln(),
            None => 0.0,
        };
        let masks: Vec<f64> = self.masks.iter().map(of_mask).collect();
        odds.clear();
        for (i, (&pattern, &mask)) in self.patterns.iter().zip(&self.mask_of).enumerate() {
            if i % 4096 == 0 {
                turn();
            }
            let levels = levels.iter().enumerate();
            let levels = levels.filter_map(|(k, logs)| logs.get(pattern.level(k)));
            let log = of_all + masks[mask as usize] + levels.sum::<f64>();
            let log = log - of.dependence.log(pattern);
            odds.push(log.clamp(-GREATEST, GREATEST).exp());
        }
    }
}
