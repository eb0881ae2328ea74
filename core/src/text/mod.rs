//! Identity text: one spelling for what is meant to be the same.

mod date;
mod edit;
mod letters;
mod luhn;
mod normalize;

pub use date::{
    date_digits, for_each_digit_pair, parse_date, parse_time, plausibility, DateFormats, DigitPair,
    Plausibility, TimeFormat,
};
pub use edit::{damerau_similarity, edit_similarity, jaro_winkler, MAX_EDITED};
pub(crate) use letters::is_letter_or_digit;
pub use luhn::luhn;
pub use normalize::{normalize, scan, Symbol, ALPHABET};

/// Version of the normalisation rules. Stored signatures depend on every rule and on the versions
/// of the crates behind them, so any change of either takes a new number; it is part of a
/// signature's shape.
pub const RULES: u8 = 1;
