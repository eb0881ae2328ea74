//! Dates to `YYYYMMDD`, from text in a given format.
//!
//! A format is written as for PostgreSQL's `to_date`: the fields `YYYY`, `MM`, `DD`, `Mon` or
//! `Month` in any case, everything else is literal (letters in double quotes).

use chrono::{Datelike, NaiveDate};

use super::normalize;
use crate::{Error, ErrorKind, Result};

/// Bytes of a format; far more than any needs.
const LONGEST_FORMAT: usize = 256;

const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateField {
    Year,
    Month,
    MonthName,
    Day,
}

impl DateField {
    fn name(self) -> &'static str {
        match self {
            DateField::Year => "year",
            DateField::Month | DateField::MonthName => "month",
            DateField::Day => "day",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum FormatToken {
    Field(DateField),
    Space,
    Literal(char),
}

/// The three numbers as written; they need not be a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DateParts {
    year: i32,
    month: u32,
    day: u32,
}

/// Whether a date can be, and if not, what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plausibility {
    pub plausible: bool,
    /// `year`, `month`, `day`, or `format` when the text does not match it.
    pub part: Option<&'static str>,
    /// A sentence.
    pub detail: Option<String>,
    /// `YYYYMMDD` of the date that was probably meant: digits transposed, or day and month.
    pub suggestion: Option<String>,
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

/// `YYYYMMDD` of `text` as read by `format`; empty for text that is empty or blank.
///
/// Errors: a malformed format, text that does not match it, a date that cannot be.
pub fn parse_date(text: &str, format: &str) -> Result<String> {
    let tokens = tokens(format)?;
    if text.trim().is_empty() {
        return Ok(String::new());
    }
    let parts = match_tokens(text, format, &tokens)?;
    match impossible(parts) {
        None => date_digits(parts.year, parts.month, parts.day),
        Some((field, value, detail)) => {
            let error = Error::new(
                ErrorKind::DatetimeOverflow,
                format!(
                    "{} {value} is impossible in date \"{}\"",
                    field.name(),
                    quoted(text)
                ),
            )
            .detail(detail);
            Err(match suggestion(parts) {
                Some(s) => error.hint(format!(
                    "Perhaps digits were transposed and {s} is meant; ident_date_plausibility() tells without an error."
                )),
                None => error.hint("Use ident_date_plausibility() to test dates without an error."),
            })
        }
    }
}

/// What [`parse_date`] would say of `text`, as a value. Blank text is plausible: no date is given.
///
/// Errors: a malformed format only.
pub fn plausibility(text: &str, format: &str) -> Result<Plausibility> {
    let tokens = tokens(format)?;
    let no = |part, detail, suggestion| Plausibility {
        plausible: false,
        part: Some(part),
        detail: Some(detail),
        suggestion,
    };
    let yes = Plausibility {
        plausible: true,
        part: None,
        detail: None,
        suggestion: None,
    };
    if text.trim().is_empty() {
        return Ok(yes);
    }
    let parts = match match_tokens(text, format, &tokens) {
        Ok(parts) => parts,
        Err(e) => {
            let detail = e.detail_text().unwrap_or_else(|| e.message()).to_owned();
            return Ok(no("format", detail, None));
        }
    };
    Ok(match impossible(parts) {
        None => yes,
        Some((field, _, detail)) => no(field.name(), detail, suggestion(parts)),
    })
}

fn tokens(format: &str) -> Result<Vec<FormatToken>> {
    const FIELDS: [(&str, DateField); 5] = [
        ("yyyy", DateField::Year),
        ("month", DateField::MonthName),
        ("mon", DateField::MonthName),
        ("mm", DateField::Month),
        ("dd", DateField::Day),
    ];
    let malformed = |what: String| {
        Err(Error::new(
            ErrorKind::InvalidParameter,
            format!("invalid date format \"{}\"", quoted(format)),
        )
        .detail(what)
        .hint("Use YYYY, MM, DD and Mon or Month, for example DD.MM.YYYY; put other letters in double quotes."))
    };
    if format.len() > LONGEST_FORMAT {
        return malformed(format!("It is longer than {LONGEST_FORMAT} bytes."));
    }
    let mut tokens = Vec::new();
    let mut rest = format;
    while let Some(c) = rest.chars().next() {
        if let Some((name, field)) = FIELDS.iter().find(|(name, _)| {
            rest.get(..name.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(name))
        }) {
            tokens.push(FormatToken::Field(*field));
            rest = &rest[name.len()..];
        } else if c == '"' {
            let Some(end) = rest[1..].find('"') else {
                return malformed("A double quote is not closed.".into());
            };
            tokens.extend(rest[1..=end].chars().map(FormatToken::Literal));
            rest = &rest[end + 2..];
        } else if c.is_alphanumeric() {
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            return malformed(format!("\"{}\" is no field.", quoted(&word)));
        } else {
            if !c.is_whitespace() {
                tokens.push(FormatToken::Literal(c));
            } else if tokens.last() != Some(&FormatToken::Space) {
                tokens.push(FormatToken::Space);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    for wanted in ["year", "month", "day"] {
        let n = tokens
            .iter()
            .filter(|t| matches!(t, FormatToken::Field(f) if f.name() == wanted))
            .count();
        if n != 1 {
            return malformed(format!("The {wanted} must occur once, not {n} times."));
        }
    }
    Ok(tokens)
}

fn match_tokens(text: &str, format: &str, tokens: &[FormatToken]) -> Result<DateParts> {
    let mismatch = |what: String| {
        Error::new(
            ErrorKind::DatetimeFormat,
            format!(
                "date \"{}\" does not match format \"{}\"",
                quoted(text),
                quoted(format)
            ),
        )
        .detail(what)
        .hint("Give the format that it has; ident_date_plausibility() tells without an error.")
    };
    let mut parts = DateParts {
        year: 0,
        month: 0,
        day: 0,
    };
    let mut rest = text.trim();
    for (i, token) in tokens.iter().enumerate() {
        match token {
            FormatToken::Space => rest = rest.trim_start(),
            FormatToken::Literal(c) => {
                rest = rest.strip_prefix(*c).ok_or_else(|| {
                    mismatch(match rest {
                        "" => format!("\"{c}\" is expected at the end."),
                        _ => format!("\"{c}\" is expected before \"{}\".", quoted(rest)),
                    })
                })?;
            }
            FormatToken::Field(DateField::MonthName) => {
                let end = rest
                    .find(|c: char| !c.is_alphabetic())
                    .unwrap_or(rest.len());
                parts.month = month(&rest[..end]).ok_or_else(|| {
                    mismatch(format!("\"{}\" names no month.", quoted(&rest[..end])))
                })?;
                rest = &rest[end..];
            }
            FormatToken::Field(field) => {
                let width = if *field == DateField::Year { 4 } else { 2 };
                let n = rest
                    .bytes()
                    .take(width)
                    .take_while(u8::is_ascii_digit)
                    .count();
                // one digit will do where a delimiter follows
                let adjacent = matches!(tokens.get(i + 1), Some(FormatToken::Field(f)) if *f != DateField::MonthName);
                if n < width && (n == 0 || *field == DateField::Year || adjacent) {
                    return Err(mismatch(format!(
                        "{} digits of the {} are expected at \"{}\".",
                        width,
                        field.name(),
                        quoted(rest)
                    )));
                }
                let value: u32 = rest[..n].parse().expect("at most four digits");
                match field {
                    DateField::Year => parts.year = value as i32,
                    DateField::Month | DateField::MonthName => parts.month = value,
                    DateField::Day => parts.day = value,
                }
                rest = &rest[n..];
            }
        }
    }
    if rest.is_empty() {
        Ok(parts)
    } else {
        Err(mismatch(format!("\"{}\" is left over.", quoted(rest))))
    }
}

/// English, German and Spanish names, or their first three letters or more.
fn month(name: &str) -> Option<u32> {
    const MONTHS: [&[&str]; 12] = [
        &["january", "januar", "jaenner", "enero"],
        &["february", "februar", "febrero"],
        &["march", "maerz", "mrz", "marzo"],
        &["april", "abril"],
        &["may", "mai", "mayo"],
        &["june", "juni", "junio"],
        &["july", "juli", "julio"],
        &["august", "agosto"],
        &["september", "septiembre", "setiembre"],
        &["october", "oktober", "octubre"],
        &["november", "noviembre"],
        &["december", "dezember", "diciembre"],
    ];
    let name = normalize(name, false, || ()).ok()?;
    let found = MONTHS
        .iter()
        .position(|names| name.len() >= 3 && names.iter().any(|full| full.starts_with(&name)))?;
    Some(found as u32 + 1)
}

fn calendar(parts: DateParts) -> Option<NaiveDate> {
    YEARS.contains(&parts.year).then_some(())?;
    NaiveDate::from_ymd_opt(parts.year, parts.month, parts.day)
}

/// DateField, its value and why it cannot be.
fn impossible(parts: DateParts) -> Option<(DateField, u32, String)> {
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
fn suggestion(parts: DateParts) -> Option<String> {
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

/// Text as it may stand in a message: short, and on one line.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        for (text, format) in [
            ("27.05.1964", "DD.MM.YYYY"),
            (" 27.5.1964 ", "dd.mm.yyyy"),
            ("1964-05-27", "YYYY-MM-DD"),
            ("19640527", "YYYYMMDD"),
            ("27051964", "DDMMYYYY"),
            ("27. Mai 1964", "DD. Month YYYY"),
            ("May 27, 1964", "Mon DD, YYYY"),
            ("27 de mayo de 1964", "DD \"de\" Month \"de\" YYYY"),
            ("5/27/1964", "MM/DD/YYYY"),
        ] {
            assert_eq!(parse_date(text, format).unwrap(), "19640527", "{text}");
        }
        assert_eq!(
            parse_date("3. März 2000", "DD. Mon YYYY").unwrap(),
            "20000303"
        );
        assert_eq!(parse_date("29.02.2000", "DD.MM.YYYY").unwrap(), "20000229");
        assert_eq!(parse_date("  ", "DD.MM.YYYY").unwrap(), "");
    }

    #[test]
    fn the_impossible_part_is_named() {
        let message = |text| {
            parse_date(text, "DD.MM.YYYY")
                .unwrap_err()
                .message()
                .to_owned()
        };
        assert_eq!(
            message("32.05.1964"),
            "day 32 is impossible in date \"32.05.1964\""
        );
        assert_eq!(
            message("27.13.1964"),
            "month 13 is impossible in date \"27.13.1964\""
        );
        assert_eq!(
            message("27.05.0000"),
            "year 0 is impossible in date \"27.05.0000\""
        );
        assert_eq!(
            message("29.02.1900"),
            "day 29 is impossible in date \"29.02.1900\""
        );
        for text in ["27.05.64", "27-05-1964", "27.05.1964x", "", "a.b.c"] {
            let outcome = parse_date(text, "DD.MM.YYYY");
            assert_eq!(outcome.is_ok(), text.is_empty(), "{text}");
        }
    }

    #[test]
    fn plausibility_says_what_was_probably_meant() {
        let of = |text| plausibility(text, "DD.MM.YYYY").unwrap();
        assert!(of("27.05.1964").plausible);
        let p = of("32.05.1964");
        assert_eq!(
            (p.part, p.suggestion.as_deref()),
            (Some("day"), Some("19640523"))
        );
        let p = of("05.27.1964");
        assert_eq!(
            (p.part, p.suggestion.as_deref()),
            (Some("month"), Some("19640527"))
        );
        let p = of("30.21.1964");
        assert_eq!(
            (p.part, p.suggestion.as_deref()),
            (Some("month"), Some("19641230"))
        );
        let p = of("nonsense");
        assert_eq!((p.part, p.suggestion), (Some("format"), None));
        assert!(of("").plausible);
        assert!(of(" ").plausible);
    }

    #[test]
    fn formats_that_are_none() {
        for format in [
            "",
            "DD.MM",
            "DD.MM.YYYY YYYY",
            "DD.MM.YY",
            "HH.MM.YYYY",
            "\"DD",
            "DD Mon MM YYYY",
        ] {
            assert_eq!(
                parse_date("x", format).unwrap_err().kind(),
                ErrorKind::InvalidParameter,
                "{format}"
            );
        }
    }
}
