//! Dates to `YYYYMMDD` and times to `HHMMSS`, from text in given formats.
//!
//! A format is written as for PostgreSQL's `to_date`: fields such as `YYYY`, `MM` and `DD`, or `HH24` and `MI`, in any
//! case; everything else is literal (letters in double quotes).
//!
//! Formats that are tried where nobody has given one are in linkage: `model/values/conventions.rs`.

mod calendar;
mod format;
mod months;
mod pairs;
mod parse;
mod read;
mod time;

pub use calendar::{date_digits, day_number, in_utc};
pub use pairs::{for_each_digit_pair, DigitPair};
pub use parse::{parse_date, plausibility, DateFormats, Plausibility};
pub use time::{parse_time, time_digits, TimeFormats};

/// Version of the rules by which dates and times are read.
pub const DATE_RULES: u8 = 1;
