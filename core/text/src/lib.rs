//! Identity text: one spelling for what is meant to be the same ([`normalize`]), dates, [`contact`] data, [`names`];
//! and what texts are cut into: n-grams ([`ngram`]) and [`tokens`].

#![warn(missing_docs)]

pub mod as_written;
pub mod contact;
mod date;
mod edit;
mod expand;
pub mod identity;
mod letters;
mod luhn;
pub mod names;
pub mod ngram;
mod normalize;
mod rules;
mod sound;
pub mod tokens;

pub use date::{
    date_digits, day_number, for_each_digit_pair, in_utc, parse_date, parse_time, plausibility,
    time_digits, DateFormats, DigitPair, Plausibility, TimeFormats, DATE_RULES,
};
pub use edit::{
    check_edits, damerau_similarity, edit_similarity, edit_within, jaro_winkler, MAX_EDITED,
    MOST_EDITS,
};
pub use expand::{expand, expand_with, own_candidates, plain_words, MOST_OWN_WORDS};
pub use letters::{is_letter_or_digit, is_mark};
pub use luhn::luhn;
pub use normalize::{normalize, normalize_by, scan, Symbol, ALPHABET};
pub use rules::Rules;
pub use sound::{for_each_sound, Sound, MOST_CODES, MOST_LETTERS};

/// Version of the rules of sound: of the crate that they are from, and of what goes into it. Nothing of it is in a
/// signature, so whoever has stored codes, or signatures of codes, computes them again when it changes.
pub const SOUNDS: u8 = 1;
