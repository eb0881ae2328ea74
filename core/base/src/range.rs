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
