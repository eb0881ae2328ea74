//! Which dates there are.

use chrono::{Datelike, NaiveDate};

use super::format::DateField;
use crate::{Error, ErrorKind, Result};

const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

/// The three numbers as written; they need not be a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DateParts {
    pub(super) year: i32,
    pub(super) month: u32,
    pub(super) day: u32,
}

/// `YYYYMMDD` of a calendar date.
///
/// Errors: the year is not 1…9999.
pub fn date_digits(year: i32, month: u32, day: u32) -> Result<String> {
    if !YEARS.contains(&year) {
        return Err(Error::new(
            ErrorKind::DatetimeOverflow,
            format!("year {year} is out of range for an identity date"),
        )
        .detail("Years from 1 to 9999 have the form YYYYMMDD."));
    }
    Ok(format!("{year:04}{month:02}{day:02}"))
}

fn calendar(parts: DateParts) -> Option<NaiveDate> {
    YEARS.contains(&parts.year).then_some(())?;
    NaiveDate::from_ymd_opt(parts.year, parts.month, parts.day)
}

/// DateField, its value and why it cannot be.
pub(super) fn impossible(parts: DateParts) -> Option<(DateField, u32, String)> {
    let DateParts { year, month, day } = parts;
    if !YEARS.contains(&year) {
        let why = "Years go from 1 to 9999.".into();
        return Some((DateField::Year, year.unsigned_abs(), why));
    }
    if !(1..=12).contains(&month) {
        return Some((DateField::Month, month, "Months go from 1 to 12.".into()));
    }
    if calendar(parts).is_some() {
        return None;
    }
    let next = match month {
        12 => NaiveDate::from_ymd_opt(year + 1, 1, 1),
        _ => NaiveDate::from_ymd_opt(year, month + 1, 1),
    };
    let days = next.and_then(|d| d.pred_opt()).map_or(31, |d| d.day());
    let why = format!("Month {month} of {year} has {days} days.");
    Some((DateField::Day, day, why))
}

/// The date that comes out when the digits of one impossible field, or day and month, change
/// places.
pub(super) fn suggestion(parts: DateParts) -> Option<String> {
    let swap = |n: u32| n % 10 * 10 + n / 10;
    let DateParts { year, month, day } = parts;
    let at = |month, day| DateParts { year, month, day };
    let candidates = if (1..=12).contains(&month) {
        [at(month, swap(day)), at(day, month)]
    } else {
        [at(day, month), at(swap(month), day)]
    };
    let date = candidates.into_iter().find_map(calendar)?;
    date_digits(date.year(), date.month(), date.day()).ok()
}
