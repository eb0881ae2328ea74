//! How far records have moved away from a model that was fitted to others, or to fewer of them: what the model expects of
//! random pairs, what is counted now, and whether a difference is larger than chance and matters.
//!
//! What is compared of a field are the pairs that have a value on both sides: how many values are missing is another
//! question, whose answer would hide in all levels otherwise.

use std::ops::Range;

use super::fitted::MatchModel;
use super::values::{EQUAL, LEVELS, PRESENT, SWAPPED};
use super::Pattern;

/// A difference is larger than chance from so many standard deviations on. One in 1.7 million differences passes that by
/// chance, and a model has some hundred levels and some thousand values. Records that come twice are not independent of
/// each other, which makes chance greater by as much as half; 5 leaves room for that.
pub const DEVIATIONS: f64 = 5.0;

/// From here on a difference matters, in bits: the odds of a pair are wrong by a factor of two.
pub const LEAST_BITS: f64 = 1.0;

/// If it concerns this share of the matches, or of the random pairs, or more.
pub const LEAST_SHARE: f64 = 0.01;

/// So few pairs do not say how much their number varies.
const FEW_PAIRS: f64 = 10.0;

/// Whether two shares, of so many records each, differ by more than chance. The arc sine of the root of a share has the
/// same deviation whatever the share, and is right for a handful of records, too.
pub fn is_beyond_chance(before: (f64, f64), now: (f64, f64)) -> bool {
    let angle = |share: f64| share.clamp(0.0, 1.0).sqrt().asin();
    let deviation = (1.0 / before.1.max(1.0) + 1.0 / now.1.max(1.0)).sqrt();
    2.0 * (angle(now.0) - angle(before.0)).abs() > DEVIATIONS * deviation
}

/// Whether a difference of so many bits matters, where the largest share of what it concerns is this one.
pub fn matters(bits: f64, largest: f64) -> bool {
    bits.abs() >= LEAST_BITS && largest >= LEAST_SHARE
}

/// Whether it matters that another share of the records has a value than before: that doubles or halves the pairs that have
/// one on both sides, or those that have not, and is no less than one pair in a hundred.
pub fn filled_matters(before: f64, now: f64) -> bool {
    let [before, now] = [before, now].map(|share| share.clamp(0.0, 1.0).powi(2));
    let bits = |before: f64, now: f64| (now.max(1e-12) / before.max(1e-12)).log2();
    let largest = bits(before, now)
        .abs()
        .max(bits(1.0 - before, 1.0 - now).abs());
    matters(largest, (now - before).abs())
}

/// What a model expects of a level among pairs that have a value on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExpectedLevel {
    /// Its share of all pairs.
    pub share: f64,
    /// What the matches bring of that.
    pub by_matches: f64,
    /// Its share of the matches.
    pub of_matches: f64,
}

/// What has been counted of a level, among pairs that have a value on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountedLevel {
    /// Its share.
    pub share: f64,
    /// How much the share varies with one of the two records: the variance of the mean over the other one.
    pub by_record: f64,
    /// Records, and pairs with a value on both sides, that were looked at.
    pub records: f64,
    /// These pairs.
    pub pairs: f64,
}

/// How far a level has moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelDrift {
    /// How many bits the level counts too much.
    pub bits: f64,
    /// Whether that is larger than chance, and matters.
    pub is_news: bool,
}

impl MatchModel {
    /// The levels of pairs with a value on both sides that a field can have and speak for, as the model has them: the
    /// levels of equality below the rarest one count as that.
    pub fn spoken_levels(&self, field: usize) -> impl Iterator<Item = usize> + '_ {
        let rare = usize::from(self.fields[field].rare_level).min(EQUAL - 1);
        let is_spoken = move |&level: &usize| match level {
            SWAPPED => self.swap.is_some_and(|[speaks, _]| speaks == field),
            _ => level >= rare,
        };
        (0..PRESENT).filter(is_spoken)
    }

    /// What is expected of each level of a field in a table of so many records. The shares of random pairs have been
    /// cleaned of matches, which are among all pairs, and rarer among more of them.
    pub fn expected_levels(&self, field: usize, records: f64) -> [ExpectedLevel; LEVELS] {
        let (of, matches) = (&self.fields[field], &self.classes[0]);
        let among_pairs = (2.0 * matches.pairs_per_record / (records - 1.0).max(1.0)).min(1.0);
        let rare = usize::from(of.rare_level).min(EQUAL - 1);
        let share = |shares: &[f64; LEVELS], level: usize| match level {
            _ if level == rare => shares[..=rare].iter().sum(),
            _ => shares[level],
        };
        let mut expected = [ExpectedLevel::default(); LEVELS];
        let (mut all, mut of_matches) = (0.0, 0.0);
        for level in self.spoken_levels(field) {
            let m: f64 = share(&matches.shares[field], level);
            let by_matches = m * among_pairs;
            let sum = share(&of.u, level) + by_matches;
            expected[level] = ExpectedLevel {
                share: sum,
                by_matches,
                of_matches: m,
            };
            all += sum;
            of_matches += m;
        }
        for level in &mut expected {
            level.share /= all.max(f64::MIN_POSITIVE);
            level.by_matches /= all.max(f64::MIN_POSITIVE);
            level.of_matches /= of_matches.max(f64::MIN_POSITIVE);
        }
        expected
    }
}

impl ExpectedLevel {
    /// Some levels together.
    pub fn sum(levels: &[ExpectedLevel]) -> ExpectedLevel {
        let of = |part: fn(&ExpectedLevel) -> f64| levels.iter().map(part).sum();
        ExpectedLevel {
            share: of(|level| level.share),
            by_matches: of(|level| level.by_matches),
            of_matches: of(|level| level.of_matches),
        }
    }

    /// Whether it matters that values which have moved beyond chance change the share of the level by so much. Which
    /// values are frequent a fit knows of its own records, and by chance those of others are as frequent, or more: what the
    /// level gains and loses by values of which that cannot be told says nothing.
    pub fn matters_by_values(&self, change: f64) -> bool {
        let share = self.share.max(1e-12);
        let now = (share + change).max(1e-3 * share);
        matters((now / share).log2(), share.max(now).max(self.of_matches))
    }

    /// How far a level has moved that was expected like this by a fit to so many records, of which so many pairs with a
    /// value on both sides were looked at.
    ///
    /// The share of a level varies with the records, 4 v / n, and with the pairs. What the matches bring is known by a
    /// factor of two, which is where the fit says a word of it.
    pub fn drift(&self, now: &CountedLevel, records: f64, pairs: f64) -> LevelDrift {
        let largest = self.share.max(now.share);
        let least = 0.5 / now.pairs.max(1.0);
        let bits = (now.share.max(least) / self.share.max(least)).log2();
        let by_record = match now.share * now.pairs < FEW_PAIRS {
            true => now.by_record.max(self.share * (1.0 - self.share) / 2.0),
            false => now.by_record,
        };
        let one_of = |n: f64| 1.0 / n.max(1.0);
        let variance = 4.0 * by_record * (one_of(records) + one_of(now.records))
            + largest * (1.0 - largest) * (one_of(pairs) + one_of(now.pairs));
        let chance = DEVIATIONS * variance.sqrt() + self.by_matches;
        LevelDrift {
            bits,
            is_news: (now.share - self.share).abs() > chance
                && matters(bits, largest.max(self.of_matches)),
        }
    }
}

/// Equal values of a field, counted value by value: all pairs of the records.
#[derive(Clone, Copy, Debug, Default)]
pub struct EqualCounts {
    pairs: [f64; EQUAL],
    triples: [f64; EQUAL],
}

impl EqualCounts {
    /// A value more, which so many records have, and which has this level.
    pub fn add(&mut self, records: u64, level: u8) {
        let n = records as f64;
        self.pairs[usize::from(level)] += n * (n - 1.0);
        self.triples[usize::from(level)] += n * (n - 1.0) * (n - 2.0);
    }

    /// What has been counted of some levels together, of so many records with a value.
    pub fn levels(&self, levels: Range<usize>, records: u64) -> CountedLevel {
        let n = records as f64;
        let pairs: f64 = self.pairs[levels.clone()].iter().sum();
        let triples: f64 = self.triples[levels].iter().sum();
        let share = pairs / (n * (n - 1.0)).max(1.0);
        let twice = triples / (n * (n - 1.0) * (n - 2.0)).max(1.0);
        CountedLevel {
            share,
            by_record: (twice - share * share).max(0.0),
            records: n,
            pairs: (n * (n - 1.0) / 2.0).max(0.0),
        }
    }
}

/// Pairs of random records, counted by level: each record with some others. How often two of these have a level says how
/// much it varies with the record.
#[derive(Clone, Debug)]
pub struct StarCounts {
    fields: Vec<FieldStars>,
    /// Records, pairs, and couples of pairs of one record.
    records: f64,
    pairs: f64,
    couples: f64,
    /// The record that has its turn.
    of_record: Vec<[f64; LEVELS]>,
    others: f64,
}

#[derive(Clone, Debug, Default)]
struct FieldStars {
    /// By level: pairs, their squares by record, and their products with all that have a value on both sides.
    pairs: [f64; LEVELS],
    squares: [f64; LEVELS],
    products: [f64; LEVELS],
    present: f64,
    squares_of_present: f64,
}

impl StarCounts {
    /// Of so many fields.
    pub fn new(fields: usize) -> StarCounts {
        StarCounts {
            fields: vec![FieldStars::default(); fields],
            records: 0.0,
            pairs: 0.0,
            couples: 0.0,
            of_record: vec![[0.0; LEVELS]; fields],
            others: 0.0,
        }
    }

    /// A pair of the record that has its turn.
    pub fn add(&mut self, pattern: Pattern) {
        for (k, levels) in self.of_record.iter_mut().enumerate() {
            levels[pattern.level(k)] += 1.0;
        }
        self.others += 1.0;
    }

    /// It has no more pairs. `is_spoken`: whether a level of a field counts.
    pub fn next_record(&mut self, is_spoken: impl Fn(usize, usize) -> bool) {
        self.records += 1.0;
        self.pairs += self.others;
        self.couples += self.others * (self.others - 1.0);
        self.others = 0.0;
        for (k, (levels, of)) in self.of_record.iter_mut().zip(&mut self.fields).enumerate() {
            let spoken = |level: &usize| is_spoken(k, *level);
            let present: f64 = (0..PRESENT).filter(spoken).map(|level| levels[level]).sum();
            of.present += present;
            of.squares_of_present += present * present;
            for level in (0..PRESENT).filter(spoken) {
                let n = levels[level];
                of.pairs[level] += n;
                of.squares[level] += n * n;
                of.products[level] += n * present;
            }
            *levels = [0.0; LEVELS];
        }
    }

    /// What has been counted of a level of a field. `twice`: each pair has come twice, once by either record.
    pub fn level(&self, field: usize, level: usize, twice: bool) -> CountedLevel {
        let of = &self.fields[field];
        let share = of.pairs[level] / of.present.max(1.0);
        let present = of.present / self.pairs.max(1.0);
        let products = of.squares[level] - 2.0 * share * of.products[level]
            + share * share * of.squares_of_present;
        let of_itself = of.pairs[level] * (1.0 - share).powi(2)
            + (of.present - of.pairs[level]) * share.powi(2);
        let covariance = (products - of_itself) / self.couples.max(1.0);
        CountedLevel {
            share,
            by_record: covariance.max(0.0) / present.powi(2).max(f64::MIN_POSITIVE),
            records: self.records,
            pairs: if twice { of.present / 2.0 } else { of.present },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::people;
    use crate::model::values::{MISSING, ORDERED};

    #[test]
    fn shares_differ_by_chance_or_not() {
        // the same share, one of few records, and one that doubles
        for (before, now, is) in [
            ((0.5, 1000.0), (0.5, 1000.0), false),
            ((0.001, 1000.0), (0.004, 1000.0), false),
            ((0.001, 100_000.0), (0.002, 100_000.0), true),
            ((0.9, 500.0), (0.8, 500.0), false),
            ((0.9, 500.0), (0.7, 500.0), true),
            ((0.0, 1000.0), (0.01, 1000.0), false),
            ((0.0, 1000.0), (0.05, 1000.0), true),
        ] {
            assert_eq!(is_beyond_chance(before, now), is, "{before:?} {now:?}");
        }
    }

    #[test]
    fn what_matters_is_a_bit_of_one_pair_in_a_hundred() {
        assert!(filled_matters(0.9, 0.75) && filled_matters(0.75, 0.9));
        assert!(filled_matters(0.995, 0.98) && !filled_matters(0.9999, 0.9996));
        assert!(!filled_matters(0.9, 0.85) && filled_matters(0.3, 0.2));
        assert!(filled_matters(1.0, 0.9) && !filled_matters(1.0, 1.0) && !filled_matters(0.0, 0.0));
        assert!(!matters(0.9, 1.0) && !matters(9.0, 0.009) && matters(-1.0, 0.01));
    }

    #[test]
    fn levels_of_pairs_with_both_values_are_expected() {
        let model = people();
        for field in 0..model.fields.len() {
            let expected = model.expected_levels(field, model.records);
            let sum: f64 = expected.iter().map(|level| level.share).sum();
            let of_matches: f64 = expected.iter().map(|level| level.of_matches).sum();
            assert!((sum - 1.0).abs() < 1e-9 && (of_matches - 1.0).abs() < 1e-9);
        }
        // matches are rarer among the pairs of more records
        let [few, many] = [1000.0, 1e6].map(|records| model.expected_levels(0, records)[0]);
        assert!(few.share > many.share && few.by_matches > 900.0 * many.by_matches);
    }

    /// Records with a value each, of which all pairs are counted both ways.
    #[test]
    fn all_pairs_are_counted_alike_by_value_and_by_pair() {
        let values = [1, 1, 1, 1, 2, 2, 3, 4, 5, 0];
        let mut stars = StarCounts::new(1);
        for (i, a) in values.iter().enumerate() {
            let others = values.iter().enumerate().filter(|&(j, _)| j != i);
            for (_, b) in others {
                let level = match (a, b) {
                    (0, _) | (_, 0) => MISSING,
                    _ if a == b => 0,
                    _ => ORDERED - 1,
                };
                let mut pattern = Pattern::default();
                pattern.set(0, level as u8);
                stars.add(pattern);
            }
            stars.next_record(|_, level| level < ORDERED);
        }
        let mut equal = EqualCounts::default();
        [4, 2, 1, 1, 1].iter().for_each(|&n| equal.add(n, 0));
        let (by_value, by_pair) = (equal.levels(0..EQUAL, 9), stars.level(0, 0, true));
        assert!((by_value.share - 14.0 / 72.0).abs() < 1e-12);
        assert!((by_value.share - by_pair.share).abs() < 1e-12);
        assert_eq!([by_value.pairs, by_pair.pairs], [36.0; 2]);
        // 24 triples of 504, less the square of the share
        let is = (24.0f64 / 504.0 - (14.0f64 / 72.0).powi(2)).max(0.0);
        assert!((by_value.by_record - is).abs() < 1e-12);
    }

    #[test]
    fn a_level_moves_beyond_chance_or_not() {
        let expected = ExpectedLevel {
            share: 0.001,
            by_matches: 1e-6,
            of_matches: 0.3,
        };
        let now = |share: f64, pairs: f64| CountedLevel {
            share,
            by_record: share * share,
            records: 10_000.0,
            pairs,
        };
        let drift = |share, pairs| expected.drift(&now(share, pairs), 10_000.0, 3e6);
        assert!(drift(0.004, 1e6).is_news);
        assert_eq!(drift(0.004, 1e6).bits, 2.0);
        // too few pairs, less than a bit, and what matches bring
        assert!(!drift(0.004, 1000.0).is_news);
        assert!(!drift(0.0015, 1e6).is_news);
        let by_matches = ExpectedLevel {
            by_matches: 0.003,
            ..expected
        };
        assert!(!by_matches.drift(&now(0.004, 1e6), 10_000.0, 3e6).is_news);
        // gone: half a pair
        assert!(drift(0.0, 1e6).bits < -10.0);
    }
}
