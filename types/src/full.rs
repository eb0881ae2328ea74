//! What the builds of indexes say of signatures that are full.

use base::{Error, ErrorKind};
use signature::filter::FULL;

use pg::error::warn;

/// Warns of signatures that are full, if there are any. They are indexed like others.
pub fn warn_of_full(index: &str, full: u64, signed: u64) {
    if full == 0 {
        return;
    }
    let message = format!(
        "{:.1} % of the signatures in index \"{index}\" have more than {:.0} % of their bits set",
        100.0 * full as f64 / signed as f64,
        100.0 * FULL
    );
    warn(
        &Error::new(ErrorKind::InvalidParameter, message)
            .detail(format!(
                "{full} of {signed} signatures are similar to each other, whatever was signed."
            ))
            .hint("Plan signatures for longer texts, by max_chars, or sign fewer columns."),
    );
}
