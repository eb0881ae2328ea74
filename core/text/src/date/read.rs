//! Reading a text by a format.

use unicode_general_category::{get_general_category, GeneralCategory as Gc};

use super::calendar::{year_of_two_digits, WrittenNumbers};
use super::format::{CutFormat, FormatField, FormatToken};
use super::months::{month, LONGEST_NAME};
use super::quoted::quoted;
use crate::letters::{is_letter_or_digit, is_mark};
use base::{Error, ErrorKind};

/// What a format expects where a text has something else.
#[derive(Clone, Copy)]
enum Expected {
    Literal(char),
    Digits(FormatField),
    /// The name of a month; so many bytes stand in its place.
    MonthName(usize),
    DayHalf,
    End,
}

/// Where a text and a format part. It is made a sentence only if somebody wants to know.
#[derive(Clone, Copy)]
pub(super) struct Mismatch<'t> {
    expected: Expected,
    rest: &'t str,
}

impl Mismatch<'_> {
    /// A sentence.
    pub(super) fn detail(&self) -> String {
        let rest = self.rest;
        match self.expected {
            Expected::Literal(c) if rest.is_empty() => format!("\"{c}\" is expected at the end."),
            Expected::Literal(c) => format!("\"{c}\" is expected before \"{}\".", quoted(rest)),
            Expected::Digits(field) => format!(
                "{} digits of the {} are expected at \"{}\".",
                field.width().unwrap_or_default(),
                field.name(),
                quoted(rest)
            ),
            Expected::MonthName(bytes) => {
                format!("\"{}\" names no month.", quoted(&rest[..bytes]))
            }
            Expected::DayHalf => format!("AM or PM is expected at \"{}\".", quoted(rest)),
            Expected::End => format!("\"{}\" is left over.", quoted(rest)),
        }
    }

    /// The error that `text` does not match `format`.
    pub(super) fn error(&self, text: &str, format: &CutFormat) -> Error {
        let message = format!(
            "{} \"{}\" does not match format \"{}\"",
            format.of.name(),
            quoted(text),
            quoted(&format.text)
        );
        Error::new(ErrorKind::DatetimeFormat, message).detail(self.detail())
    }
}

/// The value of a decimal digit of any script.
#[inline]
pub(super) fn digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    match get_general_category(c) {
        Gc::DecimalNumber => any_ascii::any_ascii_char(c).parse().ok(),
        _ => None,
    }
}

/// Reads `text`, which has no blanks around it.
pub(super) fn read<'t>(
    text: &'t str,
    format: &CutFormat,
) -> std::result::Result<WrittenNumbers, Mismatch<'t>> {
    let mut numbers = WrittenNumbers::default();
    let mut rest = text;
    for (i, token) in format.tokens.iter().enumerate() {
        let next = format.tokens.get(i + 1);
        let mismatch = |expected| Mismatch { expected, rest };
        rest = match token {
            FormatToken::Space => rest.trim_start(),
            FormatToken::Literal(c) => rest
                .strip_prefix(*c)
                .ok_or(mismatch(Expected::Literal(*c)))?,
            FormatToken::Field(FormatField::MonthName) => {
                let end = word(rest);
                let expected = mismatch(Expected::MonthName(end));
                numbers.month = month(&rest[..end]).ok_or(expected)?;
                without_point(&rest[end..], next)
            }
            FormatToken::Field(FormatField::DayHalf) => {
                let (afternoon, rest) = half(rest).ok_or(mismatch(Expected::DayHalf))?;
                numbers.afternoon = afternoon;
                rest
            }
            FormatToken::Field(field) => {
                let expected = mismatch(Expected::Digits(*field));
                let width = field.width().unwrap_or_default();
                let (value, n, after) = number(rest, width);
                // one digit will do where a delimiter follows
                let whole = matches!(field, FormatField::Year | FormatField::ShortYear)
                    || matches!(next, Some(FormatToken::Field(f)) if f.width().is_some());
                if n == 0 || n < width && whole {
                    return Err(expected);
                }
                set(&mut numbers, *field, value);
                match field {
                    FormatField::OrdinalDay => without_ending(after, next),
                    _ => after,
                }
            }
        };
    }
    if rest.is_empty() {
        Ok(numbers)
    } else {
        Err(Mismatch {
            expected: Expected::End,
            rest,
        })
    }
}

fn set(numbers: &mut WrittenNumbers, field: FormatField, value: u32) {
    match field {
        FormatField::Year => numbers.year = value as i32,
        FormatField::ShortYear => numbers.year = year_of_two_digits(value),
        FormatField::Month | FormatField::MonthName => numbers.month = value,
        FormatField::Day | FormatField::OrdinalDay => numbers.day = value,
        FormatField::Hour | FormatField::HourOf12 | FormatField::HourOf24 => numbers.hour = value,
        FormatField::Minute => numbers.minute = value,
        FormatField::Second => numbers.second = value,
        FormatField::Fraction | FormatField::DayHalf => {}
    }
}

/// Up to `width` digits at the beginning: their value, how many they are, and what follows.
fn number(text: &str, width: usize) -> (u32, usize, &str) {
    let (mut value, mut n) = (0, 0);
    let mut rest = text.chars();
    while n < width {
        let after = rest.clone();
        let Some(digit) = rest.next().and_then(digit) else {
            return (value, n, after.as_str());
        };
        value = value * 10 + digit;
        n += 1;
    }
    (value, n, rest.as_str())
}

/// Bytes of the word that the text begins with, as far as one looks for a month.
fn word(text: &str) -> usize {
    let letters = text
        .chars()
        .take_while(|&c| is_letter_or_digit(c) && digit(c).is_none() || is_mark(c))
        .take(LONGEST_NAME);
    letters.map(char::len_utf8).sum()
}

/// Drops the point of an abbreviation, if the format does not have it.
fn without_point<'t>(text: &'t str, next: Option<&FormatToken>) -> &'t str {
    match next {
        Some(FormatToken::Literal('.')) => text,
        _ => text.strip_prefix('.').unwrap_or(text),
    }
}

/// Drops the ending of an ordinal number: 1st, 1er, 1º, 1.
fn without_ending<'t>(text: &'t str, next: Option<&FormatToken>) -> &'t str {
    const ENDINGS: [&str; 10] = ["st", "nd", "rd", "th", "er", "e", ".º", "º", "ª", "°"];
    let begins = |ending: &&&str| {
        text.get(..ending.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(ending))
    };
    match ENDINGS.iter().find(begins) {
        Some(ending) => &text[ending.len()..],
        None => without_point(text, next),
    }
}

/// Whether the text begins with PM, and what follows AM or PM.
fn half(text: &str) -> Option<(bool, &str)> {
    [("a.m.", false), ("p.m.", true), ("am", false), ("pm", true)]
        .into_iter()
        .find_map(|(name, afternoon)| {
            let head = text.get(..name.len())?;
            head.eq_ignore_ascii_case(name)
                .then(|| (afternoon, &text[name.len()..]))
        })
}
