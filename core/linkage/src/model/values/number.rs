//! Numbers as texts write them, and how far two of them differ.

use super::Reading;

/// A number that is finite, of 15 significant digits; zero has one sign.
pub(super) fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    if !number.is_finite() {
        return None;
    }
    // of so many digits a double precision is sure
    let number = match text.len() > 15 {
        true => format!("{number:.14e}").parse().ok()?,
        false => number,
    };
    Some(number + 0.0)
}

/// Whether a text is a number, or an amount with its currency.
pub fn is_number(text: &str) -> bool {
    number(&Reading::Amount.read(text)).is_some()
}

/// How far two numbers agree, best first, from 0 to 5, by their difference as a share of the greater one.
pub(super) fn difference(a: f64, b: f64) -> u8 {
    let share = (a / 2.0 - b / 2.0).abs() * 2.0 / a.abs().max(b.abs());
    [0.001, 0.01, 0.05, 0.2, 0.5]
        .iter()
        .filter(|&&most| share > most)
        .count() as u8
}
