//! A format, cut into its fields and what stands between them.

use super::quoted::quoted;
use crate::{Error, ErrorKind, Result};

/// Bytes of a format; far more than any needs.
const LONGEST_FORMAT: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateField {
    Year,
    Month,
    MonthName,
    Day,
}

impl DateField {
    pub(super) fn name(self) -> &'static str {
        match self {
            DateField::Year => "year",
            DateField::Month | DateField::MonthName => "month",
            DateField::Day => "day",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormatToken {
    Field(DateField),
    Space,
    Literal(char),
}

pub(super) fn tokens(format: &str) -> Result<Vec<FormatToken>> {
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
