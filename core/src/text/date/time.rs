//! Times of day to `HHMMSS`.

use std::ops::RangeInclusive;

use super::calendar::WrittenNumbers;
use super::format::{CutFormat, FormatOf};
use super::quoted::quoted;
use super::read::read;
use crate::{Error, ErrorKind, Result};

/// How a text says a time.
pub struct TimeFormat(CutFormat);

impl TimeFormat {
    /// Errors: a malformed format.
    pub fn new(format: &str) -> Result<TimeFormat> {
        CutFormat::new(FormatOf::Time, format).map(TimeFormat)
    }

    /// `HHMMSS` of `text`, seconds 00 if the format has none; empty for text that is empty or blank.
    ///
    /// Errors: text that does not match the format, a time that cannot be.
    pub fn time(&self, text: &str) -> Result<String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(String::new());
        }
        let numbers = read(text, &self.0).map_err(|mismatch| {
            mismatch.error(text, &self.0).hint(
                "Give the format that it has; ident_time_or_null() reads it without an error.",
            )
        })?;
        match self.impossible(&numbers) {
            None => Ok(self.digits(&numbers)),
            Some((part, value, range)) => {
                let halved = part == "hour" && self.0.halves();
                let (least, most) = range.into_inner();
                let message = format!("{part} {value} is impossible in time \"{}\"", quoted(text));
                Err(Error::new(ErrorKind::DatetimeOverflow, message)
                    .detail(format!(
                        "The {part}{} goes from {least} to {most}.",
                        if halved { " with AM or PM" } else { "" }
                    ))
                    .hint("Use ident_time_or_null() to read times without an error."))
            }
        }
    }

    /// The same, and `None` instead of an error and for blank text.
    pub fn time_if_any(&self, text: &str) -> Option<String> {
        let numbers = read(text.trim(), &self.0).ok()?;
        match self.impossible(&numbers) {
            None => Some(self.digits(&numbers)),
            Some(_) => None,
        }
    }

    /// The first part that cannot be, its value, and what it may be.
    fn impossible(
        &self,
        numbers: &WrittenNumbers,
    ) -> Option<(&'static str, u32, RangeInclusive<u32>)> {
        let hours = if self.0.halves() { 1..=12 } else { 0..=23 };
        [
            ("hour", numbers.hour, hours),
            ("minute", numbers.minute, 0..=59),
            ("second", numbers.second, 0..=59),
        ]
        .into_iter()
        .find(|(_, value, range)| !range.contains(value))
    }

    /// Of a time that can be.
    fn digits(&self, numbers: &WrittenNumbers) -> String {
        let hour = match (self.0.halves(), numbers.afternoon) {
            (false, _) => numbers.hour,
            // 12 am is midnight, 12 pm is noon
            (true, afternoon) => numbers.hour % 12 + 12 * u32::from(afternoon),
        };
        format!("{hour:02}{:02}{:02}", numbers.minute, numbers.second)
    }
}

/// `HHMMSS` of `text` as read by `format`; see [`TimeFormat::time`].
///
/// Errors: a malformed format, and those of [`TimeFormat::time`].
pub fn parse_time(text: &str, format: &str) -> Result<String> {
    TimeFormat::new(format)?.time(text)
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
