//! Reading a text by a format.

use super::calendar::{year_of_two_digits, WrittenNumbers};
use super::format::{CutFormat, FormatField, FormatOf, FormatToken};
use super::months::{month, LONGEST_NAME};
use crate::letters::{is_digit, is_letter_or_digit, is_mark};
use base::error::quoted;
use base::{Error, ErrorKind, Result};

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

/// What a text is by some formats.
pub(super) enum Found<T, E> {
    /// There is such a date or time by this format, the first of those by which there is.
    Value(T),
    /// It has a format, but there is no such date or time; by the first that it has.
    Impossible(E),
    /// It has none of the formats.
    Other,
}

/// Formats in order of preference: one of dates or times, or several.
pub(super) struct FormatList(Vec<CutFormat>);

impl FormatList {
    /// Errors: a malformed format.
    pub(super) fn new(of: FormatOf, first: &str) -> Result<FormatList> {
        CutFormat::new(of, first).map(|format| FormatList(vec![format]))
    }

    /// Adds a format behind the others.
    ///
    /// Errors: a malformed format; out of memory.
    pub(super) fn push(&mut self, format: &str) -> Result<()> {
        let format = CutFormat::new(self.0[0].of, format)?;
        self.0
            .try_reserve(1)
            .map_err(|_| Error::out_of_memory(self.0.len() * size_of::<CutFormat>()))?;
        self.0.push(format);
        Ok(())
    }

    /// What `text`, without blanks around it, is. `value` makes of the numbers what is looked for, or says why they
    /// are none.
    pub(super) fn find<T, E>(
        &self,
        text: &str,
        mut turn: impl FnMut(),
        value: impl Fn(WrittenNumbers, &CutFormat) -> std::result::Result<T, E>,
    ) -> Found<T, E> {
        let mut impossible = None;
        for format in &self.0 {
            turn();
            let Ok(numbers) = read(text, format) else {
                continue;
            };
            match value(numbers, format) {
                Ok(value) => return Found::Value(value),
                Err(why) => {
                    impossible.get_or_insert(why);
                }
            }
        }
        impossible.map_or(Found::Other, Found::Impossible)
    }

    /// The error that `text` has none of the formats. The hints are those for one format, and for several.
    pub(super) fn mismatch(&self, text: &str, [one, several]: [&str; 2]) -> Error {
        let first = &self.0[0];
        let Err(mismatch) = read(text, first) else {
            unreachable!("the text does not have the first format");
        };
        if self.0.len() == 1 {
            return mismatch.error(text, first).hint(one);
        }
        let (of, formats) = (first.of.name(), self.0.len());
        let message = format!(
            "{of} \"{}\" matches none of {formats} formats",
            quoted(text)
        );
        let (name, detail) = (quoted(&first.text), mismatch.detail());
        Error::new(ErrorKind::DatetimeFormat, message)
            .detail(format!("By the first, \"{name}\": {detail}"))
            .hint(several)
    }
}

/// The value of a decimal digit of any script.
#[inline]
pub(super) fn digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    is_digit(c).then(|| any_ascii::any_ascii_char(c).parse().ok())?
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
