//! Formats: which values a feature may have, and the text that is hashed for a value.
//!
//! Values are those of persons: messages say what is wrong with one, and do not show it. Each is half a sentence that
//! begins with the verb; [`crate::Encoder`] says of which feature.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;

use base::{Error, ErrorKind, Result};
use regex::Regex;

use crate::json::Member;
use crate::pattern;
use crate::strptime::DateFormat;

/// What values a feature may have.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// A text that a regular expression matches as a whole.
    Pattern(Regex, String),
    /// A text of so many characters, `None` for any, in a case.
    Text {
        case: Case,
        least: u64,
        most: Option<u64>,
    },
    /// A whole number, within bounds.
    Integer {
        least: Option<Digits>,
        most: Option<Digits>,
    },
    /// A date, hashed as its eight digits.
    Date(DateFormat),
    /// One of these.
    Enumerated(BTreeSet<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Upper,
    Lower,
    Mixed,
}

/// How characters become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Ascii,
    Utf8,
    /// With a byte order mark in each token, little-endian, as Python writes it.
    Utf16,
    Utf32,
}

impl Encoding {
    /// As a schema names it.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Ascii => "ascii",
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }

    /// Whether it has these characters.
    pub fn has(self, text: &str) -> bool {
        self != Encoding::Ascii || text.is_ascii()
    }

    /// The bytes of a token; `buffer` is used if they are other ones than those of UTF-8.
    pub fn bytes<'b>(self, token: &'b str, buffer: &'b mut Vec<u8>) -> &'b [u8] {
        match self {
            Encoding::Ascii | Encoding::Utf8 => return token.as_bytes(),
            Encoding::Utf16 => {
                buffer.clear();
                let units = std::iter::once(0xfeff).chain(token.encode_utf16());
                buffer.extend(units.flat_map(u16::to_le_bytes));
            }
            Encoding::Utf32 => {
                buffer.clear();
                let units = std::iter::once(0xfeff).chain(token.chars().map(u32::from));
                buffer.extend(units.flat_map(u32::to_le_bytes));
            }
        }
        buffer
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            // The bytes are the same.
            Encoding::Ascii | Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        })
    }
}

impl Format {
    /// Reads `format`.
    ///
    /// Errors: it is no format, or one that is not supported.
    pub fn new(member: &Member<'_>) -> Result<(Format, Encoding)> {
        let of_type = member.need("type")?;
        let mut encoding = Encoding::Utf8;
        let format = match of_type.text()? {
            "string" => {
                encoding = self::encoding(member)?;
                match member.get("pattern")? {
                    Some(pattern) => {
                        member.check_members(&["type", "encoding", "pattern", "description"])?;
                        Format::Pattern(pattern::compile(&pattern)?, pattern.text()?.to_owned())
                    }
                    None => text(member)?,
                }
            }
            "integer" => {
                member.check_members(&["type", "minimum", "maximum", "description"])?;
                let bound = |name: &str| {
                    let bound = member.get(name)?;
                    bound.map(|bound| Digits::of_bound(&bound)).transpose()
                };
                Format::Integer {
                    least: bound("minimum")?,
                    most: bound("maximum")?,
                }
            }
            "date" => {
                member.check_members(&["type", "format", "description"])?;
                Format::Date(DateFormat::new(&member.need("format")?)?)
            }
            "enum" => {
                member.check_members(&["type", "values", "description"])?;
                let values = member.need("values")?;
                let values = values.items()?.map(|value| value.text().map(str::to_owned));
                Format::Enumerated(values.collect::<Result<_>>()?)
            }
            other => return Err(of_type.unsupported(&format!("format \"{other}\""))),
        };
        Ok((format, encoding))
    }

    /// What decides the text that is hashed, for the canonical form of a schema.
    pub fn kind(&self) -> &'static str {
        match self {
            Format::Pattern(..) | Format::Text { .. } | Format::Enumerated(_) => "text",
            Format::Integer { .. } => "integer",
            Format::Date(_) => "date",
        }
    }

    /// The text that is hashed for a value.
    ///
    /// Errors: the feature may not have this value.
    pub fn read<'v>(&self, value: &'v str, encoding: Encoding) -> Result<Cow<'v, str>> {
        if !encoding.has(value) {
            return Err(refused(format!(
                "has characters that encoding {} has not",
                encoding.name()
            )));
        }
        match self {
            Format::Pattern(pattern, written) => match pattern.is_match(value) {
                true => Ok(value.into()),
                false => Err(refused(format!("does not match the pattern \"{written}\""))),
            },
            Format::Text { case, least, most } => {
                check_text(value, *case, *least, *most)?;
                Ok(value.into())
            }
            Format::Integer { least, most } => {
                let digits = integer_of(value)?.ok_or_else(|| refused("is no whole number"))?;
                let number = Digits::new(&digits);
                if least.as_ref().is_some_and(|least| number < *least) {
                    return Err(refused("is below the minimum"));
                }
                if most.as_ref().is_some_and(|most| number > *most) {
                    return Err(refused("is above the maximum"));
                }
                Ok(digits.into())
            }
            Format::Date(format) => format.read(value).map(Cow::from),
            Format::Enumerated(values) => match values.contains(value) {
                true => Ok(value.into()),
                false => Err(refused("is none of the values of the enum")),
            },
        }
    }
}

fn encoding(member: &Member<'_>) -> Result<Encoding> {
    let Some(encoding) = member.get("encoding")? else {
        return Ok(Encoding::Utf8);
    };
    match encoding.text()? {
        "ascii" => Ok(Encoding::Ascii),
        "utf-8" => Ok(Encoding::Utf8),
        "utf-16" => Ok(Encoding::Utf16),
        "utf-32" => Ok(Encoding::Utf32),
        other => Err(encoding.unsupported(&format!("encoding \"{other}\""))),
    }
}

fn text(member: &Member<'_>) -> Result<Format> {
    let known = [
        "type",
        "encoding",
        "case",
        "minLength",
        "maxLength",
        "description",
    ];
    member.check_members(&known)?;
    let case = match member.get("case")? {
        None => Case::Mixed,
        Some(case) => match case.text()? {
            "upper" => Case::Upper,
            "lower" => Case::Lower,
            "mixed" => Case::Mixed,
            other => return Err(case.unsupported(&format!("case \"{other}\""))),
        },
    };
    let length = |name: &str, least| {
        let length = member.get(name)?;
        length
            .map(|length| length.integer(least, u32::MAX.into()))
            .transpose()
    };
    Ok(Format::Text {
        case,
        least: length("minLength", 0)?.unwrap_or(0),
        most: length("maxLength", 1)?,
    })
}

fn check_text(value: &str, case: Case, least: u64, most: Option<u64>) -> Result<()> {
    let length = value.chars().count() as u64;
    if length < least {
        return Err(refused(format!(
            "has {length} characters, and at least {least} are needed"
        )));
    }
    if let Some(most) = most.filter(|&most| length > most) {
        return Err(refused(format!(
            "has {length} characters, and may have {most} at most"
        )));
    }
    match case {
        Case::Upper if value.to_uppercase() != value => Err(refused("is not in upper case")),
        Case::Lower if value.to_lowercase() != value => Err(refused("is not in lower case")),
        _ => Ok(()),
    }
}

/// The error of a value that a feature may not have.
#[cold]
pub(crate) fn refused(why: impl Into<base::error::Text>) -> Error {
    Error::data_exception(why)
}

/// A whole number of any length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    negative: bool,
    digits: String,
}

impl Digits {
    /// Of what [`integer_of`] gives.
    fn new(text: &str) -> Digits {
        Digits {
            negative: text.starts_with('-'),
            digits: text.trim_start_matches('-').to_owned(),
        }
    }

    fn of_bound(member: &Member<'_>) -> Result<Digits> {
        let number = member.number()?;
        match number.is_i64() || number.is_u64() {
            true => Ok(Digits::new(&number.to_string())),
            false => Err(member.wrong("a whole number of 64 bits")),
        }
    }
}

impl PartialOrd for Digits {
    fn partial_cmp(&self, other: &Digits) -> Option<Ordering> {
        let size = |digits: &Digits| (digits.digits.len(), digits.digits.clone());
        let order = size(self).cmp(&size(other));
        Some(match (self.negative, other.negative) {
            (false, false) => order,
            (true, true) => order.reverse(),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        })
    }
}

/// Without what Python takes for blanks around a number: of a text that is not all ASCII some control characters, too.
fn without_blanks(text: &str) -> &str {
    let of_others = |c: char| !text.is_ascii() && ('\x1c'..='\x1f').contains(&c);
    text.trim_matches(|c: char| c.is_whitespace() || of_others(c))
}

/// Most digits that Python reads.
const MOST_DIGITS: usize = 4300;

/// A whole number as Python reads it, in its shortest form: blanks around it, a sign, single underscores between digits.
/// `None` if it is none.
///
/// Errors: digits of other scripts; too many digits.
pub(crate) fn integer_of(text: &str) -> Result<Option<String>> {
    let text = without_blanks(text);
    let (negative, written) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if written.chars().any(|c| c.is_numeric() && !c.is_ascii()) {
        return Err(Error::new(
            ErrorKind::NotSupported,
            "has digits other than 0 to 9",
        ));
    }
    let Some(digits) = without_underscores(written) else {
        return Ok(None);
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(None);
    }
    if digits.len() > MOST_DIGITS {
        let message = format!("has more than {MOST_DIGITS} digits");
        return Err(Error::new(ErrorKind::NotSupported, message));
    }
    let digits = match digits.trim_start_matches('0') {
        "" => return Ok(Some("0".to_owned())),
        digits => digits,
    };
    Ok(Some(match negative {
        true => format!("-{digits}"),
        false => digits.to_owned(),
    }))
}

/// A floating-point number as Python reads it; `None` if it is none.
pub(crate) fn float_of(text: &str) -> Option<f64> {
    let text = without_underscores(without_blanks(text))?;
    text.parse().ok()
}

/// Without underscores, each of which must be between two digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut places = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_');
    let is_well = places.all(|(at, _)| at > 0 && is_digit(at - 1) && is_digit(at + 1));
    is_well.then(|| text.replace('_', ""))
}
