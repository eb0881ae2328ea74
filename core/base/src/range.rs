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
            .detail(format!("A {what} lies between 0 and 1.")),
    )
}

/// So many of something: the number, and the words for one or for more of it.
pub fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}
