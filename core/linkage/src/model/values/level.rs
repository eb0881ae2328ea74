//! Levels of agreement, best first. Every kind of field has the same numbers of levels, so that a pattern is a vector
//! of small integers; what a level means depends on the kind.

use super::{Kind, Reading};

/// Levels of values that are equal, by how frequent the value is.
pub const EQUAL: usize = 4;

/// Levels from the best to the worst: equal, similar, unlike.
pub const ORDERED: usize = 10;

/// The level of two names that have changed places with each other.
pub const SWAPPED: usize = ORDERED;

/// Levels of values that are there on both sides.
pub const PRESENT: usize = ORDERED + 1;

/// The level of a value that is missing on either side.
pub const MISSING: usize = PRESENT;

/// All levels.
pub const LEVELS: usize = PRESENT + 1;

/// So many of the lowest ordered levels count as unlike.
pub const UNLIKE: usize = 2;

/// These.
pub const UNLIKE_LEVELS: std::ops::Range<usize> = ORDERED - UNLIKE..ORDERED;

/// Least similarities of the levels of unequal texts, in hundredths.
pub(super) const SIMILAR: [u32; 5] = [85, 70, 55, 40, 25];

/// The same of unequal signatures, as hundredths of Dice: 2j / (1 + j) of the Jaccard similarities above.
pub(super) const SIMILAR_SIGNATURES: [u32; 5] = [92, 82, 71, 57, 40];

/// The last level of values that are as similar as this, in hundredths; the last equal one if there is none.
pub fn last_level(least: u32) -> usize {
    EQUAL - 1
        + SIMILAR
            .iter()
            .filter(|&&of_level| of_level >= least)
            .count()
}

/// Shares of the records from which a value counts as more frequent.
const FREQUENT: [f64; EQUAL - 1] = [1.0 / 8192.0, 1.0 / 1024.0, 1.0 / 128.0];

/// The level of two equal values that a share of the records have.
pub fn equal_level(share: f64) -> u8 {
    FREQUENT.iter().filter(|&&least| least <= share).count() as u8
}

/// The least share of the records of a value whose equality has a higher level than this one; `None` if there is none.
pub fn more_frequent_from(level: u8) -> Option<f64> {
    FREQUENT.get(usize::from(level)).copied()
}

/// What a level means, as half a sentence.
pub fn meaning(kind: Kind, reading: Option<&Reading>, level: usize) -> &'static str {
    const FREQUENCIES: [&str; EQUAL] = [
        "equal, a value of fewer than 1 in 8192 records",
        "equal, a value of 1 in 8192 records or more",
        "equal, a value of 1 in 1024 records or more",
        "equal, a value of 1 in 128 records or more",
    ];
    const TEXTS: [&str; ORDERED - EQUAL] = [
        "similar, 0.85 or more",
        "similar, 0.70 or more",
        "similar, 0.55 or more",
        "similar, 0.40 or more",
        "unlike, 0.25 or more",
        "unlike, below 0.25",
    ];
    const DATES: [&str; ORDERED - EQUAL] = [
        "one digit or two neighbours wrong",
        "day and month swapped",
        "two parts equal",
        "two digits wrong",
        "one part equal",
        "different",
    ];
    const DAYS: [&str; ORDERED - EQUAL] = [
        "a day apart",
        "2 or 3 days apart",
        "4 to 7 days apart",
        "8 to 31 days apart",
        "32 to 92 days apart",
        "more than 92 days apart, or no days",
    ];
    const CODES: [&str; ORDERED - EQUAL] = [
        "one character wrong",
        "does not occur",
        "does not occur",
        "does not occur",
        "does not occur",
        "different",
    ];
    const NUMBERS: [&str; ORDERED - EQUAL] = [
        "differ by 0.1 % or less",
        "differ by 1 % or less",
        "differ by 5 % or less",
        "differ by 20 % or less",
        "differ by 50 % or less",
        "differ by more than 50 %",
    ];
    const PHONES: [&str; ORDERED - EQUAL] = [
        "equal but for the beginning",
        "one digit or two neighbours wrong",
        "two digits wrong",
        "same last four digits",
        "same first four digits",
        "different",
    ];
    const EMAILS: [&str; ORDERED - EQUAL] = [
        "same name at another domain",
        "similar name at the same domain, 0.70 or more",
        "similar name at another domain, 0.70 or more",
        "similar name, 0.40 or more",
        "other name at the same domain",
        "different",
    ];
    const SIGNATURES: [&str; ORDERED - EQUAL] = [
        "similar, Dice 0.92 or more",
        "similar, Dice 0.82 or more",
        "similar, Dice 0.71 or more",
        "similar, Dice 0.57 or more",
        "unlike, Dice 0.40 or more",
        "unlike, Dice below 0.40",
    ];
    match level {
        MISSING => "missing on either side",
        SWAPPED => "has changed places with another name",
        0..EQUAL => FREQUENCIES[level],
        _ if level + UNLIKE + 1 == ORDERED && matches!(reading, Some(Reading::Sound(_))) => {
            "similar, 0.40 or more, or sounds alike"
        }
        _ => {
            let words = match kind {
                Kind::Text | Kind::Words | Kind::Name => TEXTS,
                Kind::Date => DATES,
                Kind::Day => DAYS,
                Kind::Code => CODES,
                Kind::Number => NUMBERS,
                Kind::Phone => PHONES,
                Kind::Email => EMAILS,
                Kind::Signature => SIGNATURES,
            };
            words.get(level - EQUAL).copied().unwrap_or("unknown")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{equal_level, more_frequent_from};

    #[test]
    fn shares_have_levels() {
        let of = [
            0.0,
            1e-5,
            1.0 / 8192.0,
            1.0 / 1024.0,
            0.002,
            1.0 / 128.0,
            1.0,
        ]
        .map(equal_level);
        assert_eq!(of, [0, 0, 1, 2, 2, 3, 3]);
        for level in 0..3 {
            let least = more_frequent_from(level).unwrap();
            assert_eq!(equal_level(least), level + 1);
        }
        assert_eq!(more_frequent_from(3), None);
    }
}
