//! Numbers that come from outside, and how messages write them.

use crate::error::number;
use crate::{Error, Result};

/// Checks a number that lies between 0 and 1; `what` is its name in the message.
///
/// Errors: it does not, or is NaN.
pub fn unit(what: &str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(
        Error::invalid(format!("{what} {} is out of range", number(value)))
            .detail(format!("A {what} lies between 0 and 1."))
            .hint(of_percent(value).unwrap_or_default()),
    )
}

/// Numbers between 1 and this are rather mistakes than percent.
const LEAST_PERCENT: f64 = 5.0;

/// What to write instead of a number between 0 and 1 that was perhaps given in percent.
pub fn of_percent(value: f64) -> Option<String> {
    let share = (value * 1e4).round() / 1e6;
    let is_percent = (LEAST_PERCENT..=100.0).contains(&value);
    is_percent.then(|| format!("Write {} for {} percent.", number(share), number(value)))
}

/// So many of something: the number, and the words for one or for more of it.
pub fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

/// 1234567 as 1,234,567.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A similarity or probability with three digits, the last one rounded down, so that one that is not 1 is not shown as 1.
/// The script of the page rounds as this does.
pub fn three_digits(s: f64) -> String {
    let thousandths = match s {
        s if s >= 1.0 => 1000.0,
        // Thousandths as people write them are not always quite as much as a double.
        s => (s * 1000.0 + 1e-9).floor().min(999.0),
    };
    format!("{:.3}", thousandths / 1000.0)
}

/// The same as the page has it, where 1 is short.
pub fn similarity(s: f64) -> String {
    match s >= 1.0 {
        true => "1".to_owned(),
        false => three_digits(s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_are_rounded_down() {
        let of = [0.0, 0.29, 0.5099, 0.999_999_999_999_9, 1.0];
        let shown = ["0.000", "0.290", "0.509", "0.999", "1"];
        assert_eq!(of.map(similarity), shown);
        assert_eq!(three_digits(1.0), "1.000");
    }
}
