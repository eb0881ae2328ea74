//! Dates that can be, and what is wrong with the others.

use super::calendar::{digits_as_written, impossible, is_date, suggestion, WrittenNumbers};
use super::format::{CutFormat, FormatOf};
use super::read::{digit, read, FormatList, Found};
use base::error::quoted;
use base::Ticker;
use base::{Error, ErrorKind, Result};

/// Whether a date can be, and if not, what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plausibility {
    /// Whether there is such a date, or none is given.
    pub plausible: bool,
    /// `year`, `month`, `day`, or `format` when the text does not match it.
    pub part: Option<&'static str>,
    /// A sentence.
    pub detail: Option<String>,
    /// `YYYYMMDD` of the date that was probably meant: digits transposed, or day and month.
    pub suggestion: Option<String>,
}

/// Formats in order of preference.
pub struct DateFormats(FormatList);

impl DateFormats {
    /// Errors: a malformed format.
    pub fn new(first: &str) -> Result<DateFormats> {
        FormatList::new(FormatOf::Date, first).map(DateFormats)
    }

    /// Adds a format behind the others.
    ///
    /// Errors: a malformed format; out of memory.
    pub fn push(&mut self, format: &str) -> Result<()> {
        self.0.push(format)
    }

    /// The numbers of a date, or of one that cannot be.
    fn find(&self, text: &str, turn: impl FnMut()) -> Found<WrittenNumbers, WrittenNumbers> {
        self.0
            .find(text.trim(), turn, |numbers, _| match is_date(&numbers) {
                true => Ok(numbers),
                false => Err(numbers),
            })
    }

    /// `YYYYMMDD` of `text` by the first format that makes a date of it; empty for text that is empty or blank. `turn`
    /// is called now and then.
    ///
    /// Errors: the text has none of the formats, or is a date that cannot be.
    pub fn date(&self, text: &str, turn: impl FnMut()) -> Result<String> {
        const OTHER: [&str; 2] = [
            "Give the format that it has, or several; ident_date_plausibility() tells without an error.",
            "Add the format that it has; ident_date_or_null() and ident_date_text() read it without an error.",
        ];
        let text = text.trim();
        if text.is_empty() {
            return Ok(String::new());
        }
        let numbers = match self.find(text, turn) {
            Found::Value(numbers) => return Ok(digits_as_written(&numbers)),
            Found::Impossible(numbers) => numbers,
            Found::Other => return Err(self.0.mismatch(text, OTHER)),
        };
        let (part, value, detail) = impossible(&numbers).expect("no date, so a part cannot be");
        let message = format!("{part} {value} is impossible in date \"{}\"", quoted(text));
        let error = Error::new(ErrorKind::DatetimeOverflow, message).detail(detail);
        Err(match suggestion(&numbers) {
            Some(s) => error.hint(format!(
                "Perhaps digits were transposed and {s} is meant; ident_date_plausibility() tells without an error."
            )),
            None => error.hint("Use ident_date_plausibility() to test dates without an error."),
        })
    }

    /// The same, and `None` instead of an error and for blank text.
    pub fn date_if_any(&self, text: &str, turn: impl FnMut()) -> Option<String> {
        match self.find(text, turn) {
            Found::Value(numbers) => Some(digits_as_written(&numbers)),
            _ => None,
        }
    }

    /// The same, but a date that cannot be keeps its digits as YYYYMMDD; `None` for a text that has none of the
    /// formats.
    pub fn date_if_written(&self, text: &str) -> Option<String> {
        match self.find(text, || ()) {
            Found::Value(numbers) | Found::Impossible(numbers) => Some(digits_as_written(&numbers)),
            Found::Other => None,
        }
    }

    /// The same, but a date that cannot be keeps its digits as YYYYMMDD, and a text that has none of the formats its
    /// first eight digits in their order.
    pub fn date_digits(&self, text: &str, mut turn: impl FnMut()) -> String {
        match self.find(text, &mut turn) {
            Found::Value(numbers) | Found::Impossible(numbers) => digits_as_written(&numbers),
            Found::Other => first_digits(text, DATE_DIGITS, turn),
        }
    }
}

/// Digits of a date.
const DATE_DIGITS: usize = 8;

/// The first digits of a text, of any script, as ASCII ones.
pub(super) fn first_digits(text: &str, most: usize, turn: impl FnMut()) -> String {
    let mut ticker = Ticker::new(turn);
    let mut digits = String::with_capacity(most);
    for c in text.chars() {
        ticker.step();
        let Some(value) = digit(c) else { continue };
        digits.extend(char::from_digit(value, 10));
        if digits.len() == most {
            break;
        }
    }
    digits
}

/// `YYYYMMDD` of `text` as read by `format`; empty for text that is empty or blank.
///
/// Errors: a malformed format, text that does not match it, a date that cannot be.
pub fn parse_date(text: &str, format: &str) -> Result<String> {
    DateFormats::new(format)?.date(text, || ())
}

/// What [`parse_date`] would say of `text`, as a value. Blank text is plausible: no date is given.
///
/// Errors: a malformed format only.
pub fn plausibility(text: &str, format: &str) -> Result<Plausibility> {
    let format = CutFormat::new(FormatOf::Date, format)?;
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
    let text = text.trim();
    if text.is_empty() {
        return Ok(yes);
    }
    let numbers = match read(text, &format) {
        Ok(numbers) => numbers,
        Err(mismatch) => return Ok(no("format", mismatch.detail(), None)),
    };
    Ok(match impossible(&numbers) {
        None => yes,
        Some((part, _, detail)) => no(part, detail, suggestion(&numbers)),
    })
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
            "DD.MM.YYY",
            "DD.MM.YY YYYY",
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
