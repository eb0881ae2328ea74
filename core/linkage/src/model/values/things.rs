//! How far two values of a thing agree. Things are described in many ways, so there are more levels than of persons;
//! what is missing is told apart by whether one value is missing or both, since a seller's table lacks what the other
//! one has.

use super::encode::OWN;
use super::{meaning as of_persons, words, FieldLayout, Kind, Reading, EQUAL};

/// Levels of values that are there on both sides, from the best to the worst: equal by how frequent the value is, then
/// similar by tenths.
pub const PRESENT: usize = EQUAL + 10;

/// The level of a value that is missing on one side.
pub const ONE_MISSING: usize = PRESENT;

/// The level of a value that is missing on both sides.
pub const BOTH_MISSING: usize = PRESENT + 1;

/// All levels: as many as a pattern has room for.
pub const LEVELS: usize = PRESENT + 2;

const _: () = assert!(LEVELS <= 16, "a pattern has four bits for each level");

/// So many of the lowest levels count as unlike.
pub const UNLIKE: usize = 4;

/// From this similarity of their n-grams on, long texts are similar by them, too.
const ALIKE: f64 = 0.55;

/// Greatest relative differences of the levels of unequal numbers.
const DIFFERENCES: [f64; 9] = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.4];

/// The levels of things for the levels of kinds that have six.
const OF_SIX: [u8; 6] = [0, 2, 4, 5, 7, 9];

/// Near numbers come to the top among pairs of one probability, but count for less than similar texts.
const NEAR: f64 = 0.2;

/// What a level of values that are there on both sides means, as half a sentence; `None` if it does not occur.
pub fn meaning(kind: Kind, reading: Option<&Reading>, level: usize) -> Option<&'static str> {
    const TEXTS: [&str; PRESENT - EQUAL] = [
        "similar, 0.90 or more",
        "similar, 0.80 or more",
        "similar, 0.70 or more",
        "similar, 0.60 or more",
        "similar, 0.50 or more",
        "similar, 0.40 or more",
        "unlike, 0.30 or more",
        "unlike, 0.20 or more",
        "unlike, 0.10 or more",
        "unlike, below 0.10",
    ];
    const NUMBERS: [&str; PRESENT - EQUAL] = [
        "differ by 0.03 % or less",
        "differ by 0.1 % or less",
        "differ by 0.3 % or less",
        "differ by 1 % or less",
        "differ by 3 % or less",
        "differ by 5 % or less",
        "differ by 10 % or less",
        "differ by 20 % or less",
        "differ by 40 % or less",
        "differ by more than 40 %",
    ];
    let Some(unequal) = level.checked_sub(EQUAL) else {
        return Some(of_persons(kind, reading, level));
    };
    match kind {
        Kind::Text | Kind::Name | Kind::Words => TEXTS.get(unequal).copied(),
        Kind::Number => NUMBERS.get(unequal).copied(),
        Kind::Code if ![0, 9].contains(&unequal) => None,
        Kind::Code | Kind::Date | Kind::Day | Kind::Phone | Kind::Email | Kind::Signature => {
            let of_six = OF_SIX.iter().position(|&of| usize::from(of) == unequal)?;
            Some(of_persons(kind, reading, EQUAL + of_six))
        }
    }
}

/// How far two values agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// The level.
    pub level: u8,
    /// What it counts for among pairs of one probability, from 0 to 1.
    pub similarity: f64,
}

impl FieldLayout {
    /// How far two values of things agree.
    pub fn agreement(&self, a: &[u64], b: &[u64]) -> Agreement {
        let [has_a, has_b] = [a, b].map(|value| FieldLayout::identity_of(value) != 0);
        if !has_a || !has_b {
            let level = if has_a || has_b {
                ONE_MISSING
            } else {
                BOTH_MISSING
            };
            return Agreement {
                level: level as u8,
                similarity: 0.0,
            };
        }
        let is_equal = FieldLayout::identity_of(a) == FieldLayout::identity_of(b);
        let (unequal, similarity) = match self.kind() {
            Kind::Text | Kind::Name | Kind::Words => {
                let similarity = match is_equal {
                    true => 1.0,
                    false => self.similarity_of_things(a, b),
                };
                // whole hundredths, as 0.3 of numbers may lie below 3 tenths
                let hundredths = (100.0 * similarity + 1e-9) as u8;
                (9 - (hundredths / 10).min(9), similarity)
            }
            Kind::Number if self.has_own(a, b) => {
                let (x, y) = (f64::from_bits(a[OWN]), f64::from_bits(b[OWN]));
                let greater = x.abs().max(y.abs()).max(1e-9);
                let difference = (x / greater - y / greater).abs();
                let level = DIFFERENCES
                    .iter()
                    .filter(|&&most| difference > most)
                    .count();
                (level as u8, NEAR * (1.0 - difference).max(0.0))
            }
            _ => {
                let level = if is_equal { 0 } else { self.unequal(a, b) };
                let similarity = self.similarity(a, b);
                (OF_SIX[usize::from(level.min(5))], similarity)
            }
        };
        let level = match is_equal {
            true => self.level(a, b),
            false => EQUAL as u8 + unequal,
        };
        Agreement { level, similarity }
    }

    /// The similarity of two texts: the greater one of that of their n-grams and that of their words.
    pub(super) fn similarity_of_things(&self, a: &[u64], b: &[u64]) -> f64 {
        let of_ngrams = self.similarity(a, b);
        let of_ngrams = match self.kind() {
            Kind::Words if of_ngrams < ALIKE => 0.0,
            _ => of_ngrams,
        };
        match self.weighted_words(a).zip(self.weighted_words(b)) {
            Some((a, b)) => of_ngrams.max(words::similarity(a, b)),
            None => of_ngrams,
        }
    }

    /// The words of a value, each with its weight in bits.
    pub fn words_of<'v>(&self, value: &'v [u64]) -> impl Iterator<Item = (u64, f64)> + 'v {
        self.weighted_words(value)
            .into_iter()
            .flat_map(words::hashes)
    }

    /// Sets the weights of a value's words. `records`: how many have a value; `with`: how many of them have the word of
    /// this hash.
    pub fn weigh(&self, value: &mut [u64], records: u64, with: impl FnMut(u64) -> u64) {
        if self.most_words() > 0 {
            words::weigh(&mut value[self.words_at()..], records, with);
        }
    }

    fn weighted_words<'v>(&self, value: &'v [u64]) -> Option<&'v [u64]> {
        (self.most_words() > 0).then(|| &value[self.words_at()..])
    }
}
