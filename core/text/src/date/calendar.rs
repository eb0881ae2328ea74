//! Which dates there are.

use chrono::{Datelike, NaiveDate};

use base::{Error, ErrorKind, Result};

const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

/// The numbers as written; they need not be a date or a time. What the format does not have is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WrittenNumbers {
    pub(super) year: i32,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) afternoon: bool,
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

/// The number of a day, from the first day of the year 1 on; `None` if there is no such day, or its year is not 1…9999.
pub fn day_number(year: u32, month: u32, day: u32) -> Option<u32> {
    let year = i32::try_from(year)
        .ok()
        .filter(|year| YEARS.contains(year))?;
    let date = NaiveDate::from_ymd_opt(year, month, day)?;
    date.num_days_from_ce().try_into().ok()
}

/// A point in time that is written as in JSON with its offset, `2020-01-06T00:30:00+02:00`, as the same one in UTC without it,
/// `2020-01-05T22:30:00`; `None` of any other text.
pub fn in_utc(text: &str) -> Option<String> {
    if text.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    let utc = chrono::DateTime::parse_from_rfc3339(text).ok()?.naive_utc();
    let text = utc.to_string().replacen(' ', "T", 1);
    Some(match text.contains('.') {
        true => text.trim_end_matches('0').to_owned(),
        false => text,
    })
}

/// The year that two digits stand for: 30 to 99 are 1930 to 1999, and 00 to 29 are 2000 to 2029. The rule may not
/// depend on today, or what is stored and what is computed again would differ.
pub(super) fn year_of_two_digits(digits: u32) -> i32 {
    let year = digits as i32;
    if year < 30 {
        2000 + year
    } else {
        1900 + year
    }
}

/// Year, month and day as written, possible or not.
pub(super) fn digits_as_written(parts: &WrittenNumbers) -> String {
    format!("{:04}{:02}{:02}", parts.year, parts.month, parts.day)
}

fn calendar(parts: &WrittenNumbers) -> Option<NaiveDate> {
    YEARS.contains(&parts.year).then_some(())?;
    NaiveDate::from_ymd_opt(parts.year, parts.month, parts.day)
}

/// Whether there is such a date.
pub(super) fn is_date(parts: &WrittenNumbers) -> bool {
    calendar(parts).is_some()
}

/// The part that cannot be, its value and why.
pub(super) fn impossible(parts: &WrittenNumbers) -> Option<(&'static str, u32, String)> {
    let &WrittenNumbers {
        year, month, day, ..
    } = parts;
    if !YEARS.contains(&year) {
        let why = "Years go from 1 to 9999.".into();
        return Some(("year", year.unsigned_abs(), why));
    }
    if !(1..=12).contains(&month) {
        return Some(("month", month, "Months go from 1 to 12.".into()));
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
    Some(("day", day, why))
}

/// The date that comes out when the digits of one impossible field, or day and month, change
/// places.
pub(super) fn suggestion(parts: &WrittenNumbers) -> Option<String> {
    let swap = |n: u32| n % 10 * 10 + n / 10;
    let (month, day) = (parts.month, parts.day);
    let at = |month, day| WrittenNumbers {
        month,
        day,
        ..*parts
    };
    let candidates = if (1..=12).contains(&month) {
        [at(month, swap(day)), at(day, month)]
    } else {
        [at(day, month), at(swap(month), day)]
    };
    let date = candidates.into_iter().find_map(|parts| calendar(&parts))?;
    date_digits(date.year(), date.month(), date.day()).ok()
}
