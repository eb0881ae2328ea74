//! Reading a text by a format.

use super::calendar::DateParts;
use super::format::{DateField, FormatToken};
use super::quoted::quoted;
use crate::text::normalize::normalize;
use crate::{Error, ErrorKind, Result};

pub(super) fn match_tokens(text: &str, format: &str, tokens: &[FormatToken]) -> Result<DateParts> {
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
