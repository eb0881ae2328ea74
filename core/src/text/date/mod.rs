//! Dates to `YYYYMMDD`, from text in a given format.
//!
//! A format is written as for PostgreSQL's `to_date`: the fields `YYYY`, `MM`, `DD`, `Mon` or
//! `Month` in any case, everything else is literal (letters in double quotes).

mod calendar;
mod format;
mod parse;
mod quoted;
mod read;

pub use calendar::date_digits;
pub use parse::{parse_date, plausibility, Plausibility};
pub(super) use quoted::quoted;
