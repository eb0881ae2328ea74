//! A format, cut into its fields and what stands between them. Formats that are tried where nobody has given one are in
//! linkage: `model/values/conventions.rs`.

use base::error::quoted;
use base::{Error, Result};

/// Bytes of a format; far more than any needs.
const LONGEST_FORMAT: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatField {
    Year,
    /// Two digits, by [`super::calendar::year_of_two_digits`].
    ShortYear,
    Month,
    MonthName,
    Day,
    /// A day that may have the ending of an ordinal number.
    OrdinalDay,
    /// Of 12 hours in a format with a half of the day, else of 24.
    Hour,
    HourOf12,
    HourOf24,
    Minute,
    Second,
    /// Digits of a second, which are read and dropped.
    Fraction,
    /// AM or PM.
    DayHalf,
}

impl FormatField {
    /// What of the date or time it is; a format has each once.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Year | Self::ShortYear => "year",
            Self::Month | Self::MonthName => "month",
            Self::Day | Self::OrdinalDay => "day",
            Self::Hour | Self::HourOf12 | Self::HourOf24 => "hour",
            Self::Minute => "minute",
            Self::Second => "second",
            Self::Fraction => "fraction",
            Self::DayHalf => "half of the day",
        }
    }

    /// Digits that it has at most; none, if it is a word.
    pub(super) fn width(self) -> Option<usize> {
        match self {
            Self::MonthName | Self::DayHalf => None,
            Self::Year => Some(4),
            Self::Fraction => Some(9),
            _ => Some(2),
        }
    }
}

/// What a format describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatOf {
    Date,
    Time,
}

impl FormatOf {
    pub(super) fn name(self) -> &'static str {
        match self {
            FormatOf::Date => "date",
            FormatOf::Time => "time",
        }
    }

    /// How fields are written; a longer one stands before those that it begins with.
    fn fields(self) -> &'static [(&'static str, FormatField)] {
        match self {
            FormatOf::Date => &[
                ("yyyy", FormatField::Year),
                ("yy", FormatField::ShortYear),
                ("month", FormatField::MonthName),
                ("mon", FormatField::MonthName),
                ("mm", FormatField::Month),
                ("ddth", FormatField::OrdinalDay),
                ("dd", FormatField::Day),
            ],
            FormatOf::Time => &[
                ("hh24", FormatField::HourOf24),
                ("hh12", FormatField::HourOf12),
                ("hh", FormatField::Hour),
                ("mi", FormatField::Minute),
                ("ss", FormatField::Second),
                ("ff", FormatField::Fraction),
                ("a.m.", FormatField::DayHalf),
                ("p.m.", FormatField::DayHalf),
                ("am", FormatField::DayHalf),
                ("pm", FormatField::DayHalf),
            ],
        }
    }

    /// Names of fields, and whether a format must have them.
    fn parts(self) -> &'static [(&'static str, bool)] {
        match self {
            FormatOf::Date => &[("year", true), ("month", true), ("day", true)],
            FormatOf::Time => &[
                ("hour", true),
                ("minute", true),
                ("second", false),
                ("fraction", false),
                ("half of the day", false),
            ],
        }
    }

    fn hint(self) -> &'static str {
        match self {
            FormatOf::Date => "Use YYYY or YY, MM, Mon or Month, and DD or DDth, for example DD.MM.YYYY; put other \
                letters in double quotes.",
            FormatOf::Time => "Use HH, HH24 or HH12, MI for minutes, SS, FF and AM, for example HH24:MI:SS; put \
                other letters in double quotes.",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormatToken {
    Field(FormatField),
    Space,
    Literal(char),
}

/// A format that has been read.
pub(super) struct CutFormat {
    pub(super) of: FormatOf,
    /// As it was written.
    pub(super) text: String,
    pub(super) tokens: Vec<FormatToken>,
}

impl CutFormat {
    /// Errors: the format is malformed.
    pub(super) fn new(of: FormatOf, format: &str) -> Result<CutFormat> {
        Ok(CutFormat {
            of,
            tokens: tokens(of, format).map_err(|what| {
                Error::invalid(format!(
                    "invalid {} format \"{}\"",
                    of.name(),
                    quoted(format)
                ))
                .detail(what)
                .hint(of.hint())
            })?,
            text: format.to_owned(),
        })
    }

    /// Whether it has a half of the day.
    pub(super) fn halves(&self) -> bool {
        has(&self.tokens, FormatField::DayHalf)
    }
}

fn has(tokens: &[FormatToken], field: FormatField) -> bool {
    tokens.contains(&FormatToken::Field(field))
}

/// Errors: a sentence that says what is wrong with the format.
fn tokens(of: FormatOf, format: &str) -> std::result::Result<Vec<FormatToken>, String> {
    if format.len() > LONGEST_FORMAT {
        return Err(format!("It is longer than {LONGEST_FORMAT} bytes."));
    }
    let mut tokens = Vec::new();
    let mut rest = format;
    while let Some(c) = rest.chars().next() {
        if let Some((name, field)) = of.fields().iter().find(|(name, _)| {
            rest.get(..name.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(name))
        }) {
            tokens.push(FormatToken::Field(*field));
            rest = &rest[name.len()..];
        } else if c == '"' {
            let Some(end) = rest[1..].find('"') else {
                return Err("A double quote is not closed.".into());
            };
            tokens.extend(rest[1..=end].chars().map(FormatToken::Literal));
            rest = &rest[end + 2..];
        } else if c.is_alphanumeric() {
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            return Err(format!("\"{}\" is no field.", quoted(&word)));
        } else {
            if !c.is_whitespace() {
                tokens.push(FormatToken::Literal(c));
            } else if tokens.last() != Some(&FormatToken::Space) {
                tokens.push(FormatToken::Space);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    for &(wanted, needed) in of.parts() {
        let n = tokens
            .iter()
            .filter(|t| matches!(t, FormatToken::Field(f) if f.name() == wanted))
            .count();
        if n > 1 || n == 0 && needed {
            let must = if needed { "must" } else { "may" };
            return Err(format!("The {wanted} {must} occur once, not {n} times."));
        }
    }
    match has(&tokens, FormatField::DayHalf) {
        true if has(&tokens, FormatField::HourOf24) => Err("HH24 does not go with AM.".into()),
        false if has(&tokens, FormatField::HourOf12) => Err("HH12 needs AM.".into()),
        _ => Ok(tokens),
    }
}
