//! How often two different records agree by chance.

use super::{Shares, TYPICAL_EQUAL, TYPICAL_UNEQUAL};
use crate::model::pattern::CountedPatterns;
use crate::model::values::{equal_level, EQUAL, LEVELS, MISSING, PRESENT, SWAPPED};

/// What is known of the values of a field, over the records that count.
#[derive(Clone, Debug, Default)]
pub struct FieldFrequencies {
    /// Records with a value.
    pub present: u64,
    /// Different values.
    pub distinct: u64,
    /// Probability that two records with values have an equal one of each level.
    pub equal: [f64; EQUAL],
    /// Shares of the records whose value occurs twice or more, by level.
    pub repeated: [f64; EQUAL],
}

/// Counts values to [`FieldFrequencies`]: all that are equal at once, in any order that does not depend on the rows'
/// order.
pub struct FrequencyCount {
    frequencies: FieldFrequencies,
}

impl FrequencyCount {
    /// Of a field that so many records have a value of.
    pub fn new(present: u64) -> FrequencyCount {
        FrequencyCount {
            frequencies: FieldFrequencies {
                present,
                ..FieldFrequencies::default()
            },
        }
    }

    /// A value that so many records have. Returns the level that two of them have.
    pub fn add(&mut self, records: u64) -> u8 {
        let of = &self.frequencies;
        let level = equal_level(records as f64 / of.present.max(2) as f64);
        self.add_of_level(records, level);
        level
    }

    /// A value that so many records have, and whose level has been found among more records.
    pub fn add_of_level(&mut self, records: u64, level: u8) {
        let of = &mut self.frequencies;
        let (n, all) = (records as f64, of.present.max(2) as f64);
        let share = n / all;
        of.distinct += 1;
        of.equal[usize::from(level)] += share * (n - 1.0) / (all - 1.0);
        if records > 1 {
            of.repeated[usize::from(level)] += share;
        }
    }

    /// What has been counted.
    pub fn finish(self) -> FieldFrequencies {
        self.frequencies
    }
}

impl FieldFrequencies {
    /// How a share of matches that agree spreads over the levels of equality: a value comes as often as its share, which
    /// makes agreement count for more the rarer the value is.
    pub fn spread(&self, equal: f64) -> [f64; EQUAL] {
        let repeated = self.repeated.map(|share| share + 1e-9);
        let sum: f64 = repeated.iter().sum();
        repeated.map(|share| equal * share / sum)
    }

    /// What agreement in this field tells, in bits: -log2 of the probability that two records agree by chance.
    pub fn information(&self) -> f64 {
        let equal: f64 = self.equal.iter().sum();
        let least = (self.present.max(2) as f64).powi(-2);
        -equal.max(least).log2()
    }
}

/// How many pairs have each level, by field.
pub(super) fn pairs_by_level(
    patterns: &mut dyn CountedPatterns,
    fields: usize,
    mut turn: impl FnMut(),
) -> Vec<[u64; LEVELS]> {
    let mut pairs = vec![[0; LEVELS]; fields];
    patterns.each_block(&mut |block| {
        for some in block.chunks(4096) {
            turn();
            for &(pattern, n) in some {
                for (k, pairs) in pairs.iter_mut().enumerate() {
                    pairs[pattern.level(k)] += n;
                }
            }
        }
    });
    pairs
}

/// What a field has to do with names that change places. Two fields always do so together, which is one observation:
/// the first field's level speaks for it, and the second's has share 1 in all classes, random pairs too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// Its values change places with no other field's.
    None,
    /// The first of two fields.
    Speaks,
    /// The second.
    Silent,
}

impl Swap {
    /// What a field has to do with it, where the values of `swap` may change places.
    pub fn new(field: usize, swap: Option<[usize; 2]>) -> Swap {
        match swap {
            Some([first, _]) if field == first => Swap::Speaks,
            Some([_, second]) if field == second => Swap::Silent,
            _ => Swap::None,
        }
    }
}

/// What is known of random pairs in one field, and of the values that matches have.
#[derive(Clone, Debug)]
pub struct Chance {
    /// The share of each level among random pairs.
    pub u: Shares,
    /// The share of each level of present values in a typical match.
    pub typical: [f64; PRESENT],
    /// What it has to do with names that change places.
    pub swap: Swap,
}

impl Chance {
    /// Of a field. Equality is taken from the frequencies, which are exact; the rest from random pairs, of which so
    /// many have each level.
    pub fn new(frequencies: &FieldFrequencies, pairs: &[u64; LEVELS], swap: Swap) -> Chance {
        let all: u64 = pairs.iter().sum();
        let all = all.max(1) as f64;
        // where no pair was seen with two values, half a pair counts as one, or nothing would be left for the other
        // levels
        let missing = (pairs[MISSING] as f64 / all).min(1.0 - 0.5 / all);
        let equal: f64 = frequencies.equal.iter().sum();
        let unequal: f64 = pairs[EQUAL..PRESENT].iter().map(|&n| n as f64 + 0.5).sum();
        let mut u = [0.0; LEVELS];
        for (u, equal) in u.iter_mut().zip(&frequencies.equal) {
            *u = equal.max(1e-9) * (1.0 - missing);
        }
        for level in EQUAL..PRESENT {
            u[level] = (pairs[level] as f64 + 0.5) / unequal * (1.0 - equal) * (1.0 - missing);
        }
        u[MISSING] = missing;
        let sum: f64 = u.iter().sum();
        let mut u = u.map(|share| (share / sum).max(1e-12));
        let mut typical = [0.0; PRESENT];
        typical[..EQUAL].copy_from_slice(&frequencies.spread(TYPICAL_EQUAL));
        typical[EQUAL..].copy_from_slice(&TYPICAL_UNEQUAL);
        if swap != Swap::Speaks {
            typical[SWAPPED] = 0.0;
        }
        if swap == Swap::Silent {
            u[SWAPPED] = 1.0;
        }
        Chance { u, typical, swap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_no_pair_has_keeps_all_levels() {
        let mut pairs = [0; LEVELS];
        pairs[MISSING] = 1_000_000;
        let mut frequencies = FrequencyCount::new(1);
        frequencies.add(1);
        let chance = Chance::new(&frequencies.finish(), &pairs, Swap::None);
        assert!(chance.u[MISSING] < 1.0);
        assert!((chance.u.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(chance.u[EQUAL..PRESENT].iter().all(|&share| share > 1e-9));
    }
}
