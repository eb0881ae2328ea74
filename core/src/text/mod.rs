//! Identity text: one spelling for what is meant to be the same.

mod date;
mod letters;
mod luhn;
mod normalize;

pub use date::{date_digits, parse_date, plausibility, Plausibility};
pub(crate) use letters::{is_letter_or_digit, is_mark};
pub use luhn::luhn;
pub use normalize::{normalize, scan, Symbol, ALPHABET};

/// Version of the normalisation rules. Stored signatures depend on every rule and on the versions
/// of the crates behind them, so any change of either takes a new number; it is part of a
/// signature's shape.
pub const RULES: u8 = 1;
