//! Times of day to `HHMMSS`.

use std::ops::RangeInclusive;

use super::calendar::WrittenNumbers;
use super::format::{CutFormat, FormatOf};
use super::read::{FormatList, Found};
use base::error::quoted;
use base::{Error, ErrorKind, Result};

/// How texts say a time: formats in order of preference.
pub struct TimeFormats(FormatList);

impl TimeFormats {
    /// Errors: a malformed format.
    pub fn new(first: &str) -> Result<TimeFormats> {
        FormatList::new(FormatOf::Time, first).map(TimeFormats)
    }

    /// Adds a format behind the others.
    ///
    /// Errors: a malformed format; out of memory.
    pub fn push(&mut self, format: &str) -> Result<()> {
        self.0.push(format)
    }

    fn find(&self, text: &str, turn: impl FnMut()) -> Found<String, ImpossiblePart> {
        let value = |numbers, format: &CutFormat| digits(&numbers, format.halves());
        self.0.find(text, turn, value)
    }

    /// `HHMMSS` of `text` by the first format that makes a time of it, seconds 00 if the format has none; empty for
    /// text that is empty or blank. `turn` is called now and then.
    ///
    /// Errors: the text has none of the formats, or is a time that cannot be.
    pub fn time(&self, text: &str, turn: impl FnMut()) -> Result<String> {
        const OTHER: [&str; 2] = [
            "Give the format that it has, or several; ident_time_or_null() reads it without an error.",
            "Add the format that it has; ident_time_or_null() reads it without an error.",
        ];
        let text = text.trim();
        if text.is_empty() {
            return Ok(String::new());
        }
        match self.find(text, turn) {
            Found::Value(digits) => Ok(digits),
            Found::Impossible(part) => Err(part.error(text)),
            Found::Other => Err(self.0.mismatch(text, OTHER)),
        }
    }

    /// The same, and `None` instead of an error and for blank text.
    pub fn time_if_any(&self, text: &str, turn: impl FnMut()) -> Option<String> {
        match self.find(text.trim(), turn) {
            Found::Value(digits) => Some(digits),
            _ => None,
        }
    }
}

/// A part of a time that cannot be.
struct ImpossiblePart {
    name: &'static str,
    value: u32,
    range: RangeInclusive<u32>,
    /// Of an hour, whether AM or PM stands with it.
    halved: bool,
}

impl ImpossiblePart {
    fn error(self, text: &str) -> Error {
        let ImpossiblePart {
            name,
            value,
            halved,
            ..
        } = self;
        let (least, most) = self.range.into_inner();
        let message = format!("{name} {value} is impossible in time \"{}\"", quoted(text));
        let halves = if halved { " with AM or PM" } else { "" };
        Error::new(ErrorKind::DatetimeOverflow, message)
            .detail(format!("The {name}{halves} goes from {least} to {most}."))
            .hint("Use ident_time_or_null() to read times without an error.")
    }
}

/// `HHMMSS`, or the first part that cannot be.
fn digits(numbers: &WrittenNumbers, halves: bool) -> std::result::Result<String, ImpossiblePart> {
    let hours = if halves { 1..=12 } else { 0..=23 };
    let parts = [
        ("hour", numbers.hour, hours),
        ("minute", numbers.minute, 0..=59),
        ("second", numbers.second, 0..=59),
    ];
    for (name, value, range) in parts {
        if !range.contains(&value) {
            return Err(ImpossiblePart {
                name,
                value,
                range,
                halved: halves && name == "hour",
            });
        }
    }
    let hour = match (halves, numbers.afternoon) {
        (false, _) => numbers.hour,
        // 12 am is midnight, 12 pm is noon
        (true, afternoon) => numbers.hour % 12 + 12 * u32::from(afternoon),
    };
    Ok(format!(
        "{hour:02}{:02}{:02}",
        numbers.minute, numbers.second
    ))
}

/// `HHMMSS` of a time of day.
///
/// Errors: there is no such time.
pub fn time_digits(hour: u32, minute: u32, second: u32) -> Result<String> {
    let numbers = WrittenNumbers {
        hour,
        minute,
        second,
        ..WrittenNumbers::default()
    };
    digits(&numbers, false)
        .map_err(|part| part.error(&format!("{hour:02}:{minute:02}:{second:02}")))
}

/// `HHMMSS` of `text` as read by `format`; see [`TimeFormats::time`].
///
/// Errors: a malformed format, and those of [`TimeFormats::time`].
pub fn parse_time(text: &str, format: &str) -> Result<String> {
    TimeFormats::new(format)?.time(text, || ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        for (text, format, is) in [
            ("20:15", "HH24:MI", "201500"),
            ("20:15:07", "hh:mi:ss", "201507"),
            (" 8:15 pm ", "HH:MI AM", "201500"),
            ("12:00 a.m.", "HH12:MI PM", "000000"),
            ("12:00PM", "HH12:MIam", "120000"),
            ("201507", "HHMISS", "201507"),
            ("20:15:07.123456", "HH24:MI:SS.FF", "201507"),
            ("20h15", "HH24\"h\"MI", "201500"),
            ("2015 Uhr", "HHMI \"Uhr\"", "201500"),
            ("２０：１５", "HH24\"：\"MI", "201500"),
            ("", "HH:MI", ""),
            ("00:00:00", "HH24:MI:SS", "000000"),
        ] {
            assert_eq!(parse_time(text, format).unwrap(), is, "{text}");
        }
    }

    #[test]
    fn several_formats() {
        let mut formats = TimeFormats::new("HH24:MI").unwrap();
        formats.push("HH12:MI AM").unwrap();
        formats.push("HHMI").unwrap();
        let of = |text: &str| formats.time(text, || ());
        for (text, is) in [
            ("20:15", "201500"),
            ("8:15 pm", "201500"),
            ("2015", "201500"),
            (" ", ""),
        ] {
            assert_eq!(of(text).unwrap(), is, "{text}");
        }
        let message = |text| of(text).unwrap_err().message().to_owned();
        assert_eq!(message("8.15"), "time \"8.15\" matches none of 3 formats");
        assert_eq!(message("2515"), "hour 25 is impossible in time \"2515\"");
        assert_eq!(formats.time_if_any("8.15", || ()), None);
        assert_eq!(formats.time_if_any("", || ()), None);
        assert_eq!(time_digits(0, 0, 0).unwrap(), "000000");
        assert_eq!(time_digits(23, 59, 59).unwrap(), "235959");
        assert_eq!(
            time_digits(24, 0, 0).unwrap_err().message(),
            "hour 24 is impossible in time \"24:00:00\""
        );
    }

    #[test]
    fn what_cannot_be() {
        for (text, format, message) in [
            (
                "24:00",
                "HH24:MI",
                "hour 24 is impossible in time \"24:00\"",
            ),
            (
                "13:00 pm",
                "HH:MI AM",
                "hour 13 is impossible in time \"13:00 pm\"",
            ),
            (
                "0:30 am",
                "HH:MI AM",
                "hour 0 is impossible in time \"0:30 am\"",
            ),
            (
                "20:60",
                "HH:MI",
                "minute 60 is impossible in time \"20:60\"",
            ),
            (
                "20:15:60",
                "HH:MI:SS",
                "second 60 is impossible in time \"20:15:60\"",
            ),
            (
                "20:15",
                "HH:MI AM",
                "time \"20:15\" does not match format \"HH:MI AM\"",
            ),
            (
                "20:15 h",
                "HH:MI",
                "time \"20:15 h\" does not match format \"HH:MI\"",
            ),
        ] {
            assert_eq!(parse_time(text, format).unwrap_err().message(), message);
        }
        for format in [
            "",
            "HH",
            "HH:MM",
            "HH24:MI AM",
            "HH12:MI",
            "HH:HH24:MI",
            "HH:MI AM PM",
        ] {
            let error = parse_time("20:15", format).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{format}");
        }
    }
}
