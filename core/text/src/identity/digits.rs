//! Encodings of a telephone number.

use super::encodings::Encodings;
use base::{Error, Result};

/// Most digits of a number by E.164, and what some countries have beyond.
const LONGEST: usize = 17;

/// Three neighbours wherever they stand, two neighbours by their place from the end, and the last seven digits, which
/// are written alike with and without codes of country and area.
pub(super) fn of_phone(
    digits: &str,
    to: &mut Encodings<impl FnMut(&str) -> Result<()>>,
) -> Result<()> {
    if !(3..=LONGEST).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let shown: String = digits.chars().take(40).collect();
        return Err(Error::invalid(format!(
            "\"{shown}\" is not a telephone number of digits only"
        ))
        .detail(format!(
            "It has from 3 to {LONGEST} digits, country code included, and nothing else."
        ))
        .hint("Use ident_phone(text, region), which gives them."));
    }
    for at in 0..digits.len() - 2 {
        to.give("p3", &digits[at..at + 3])?;
    }
    for at in 0..digits.len() - 1 {
        let from_end = digits.len() - at;
        to.give("p2", &format!("{from_end}_{}", &digits[at..at + 2]))?;
    }
    if let Some(start) = digits.len().checked_sub(7) {
        to.give("p7", &digits[start..])?;
    }
    Ok(())
}
