//! Dates that can be, and what is wrong with the others.

use super::calendar::{date_digits, impossible, suggestion};
use super::format::tokens;
use super::quoted::quoted;
use super::read::match_tokens;
use crate::{Error, ErrorKind, Result};

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
