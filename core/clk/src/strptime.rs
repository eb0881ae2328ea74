//! Dates by the formats of Python's strptime.

use std::fmt;

use base::Result;
use chrono::{Datelike, Days, NaiveDate};
use regex::{Captures, Regex};

use crate::format::refused;
use crate::json::Member;

/// A format of dates.
#[derive(Clone)]
pub(crate) struct DateFormat {
    /// Matches what is formatted so, from its beginning; a group for each directive.
    pattern: Regex,
    format: String,
}

impl fmt::Debug for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.format.fmt(f)
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const DAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// The directives that are known, and what each matches: the first alternative that does, as Python has them. Names are the
/// English ones, of Python's locale C. None of the others says more about a day, but for weeks.
fn directive(letter: char) -> Option<String> {
    let names = |names: &[&str], most: usize| {
        let names = names.iter().map(|name| &name[..name.len().min(most)]);
        let names: Vec<&str> = names.collect();
        names.join("|")
    };
    // Longer names first, so that none is hidden by one that it begins with.
    let longest_first = |names: &[&str]| {
        let mut names = names.to_vec();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.join("|")
    };
    Some(match letter {
        'd' => "3[0-1]|[1-2][0-9]|0[1-9]|[1-9]| [1-9]".to_owned(),
        'm' => "1[0-2]|0[1-9]|[1-9]".to_owned(),
        'y' => "[0-9][0-9]".to_owned(),
        'Y' => "[0-9][0-9][0-9][0-9]".to_owned(),
        'j' => "36[0-6]|3[0-5][0-9]|[1-2][0-9][0-9]|0[1-9][0-9]|00[1-9]|[1-9][0-9]|0[1-9]|[1-9]"
            .to_owned(),
        'b' => names(&MONTHS, 3),
        'B' => longest_first(&MONTHS),
        'a' => names(&DAYS, 3),
        'A' => longest_first(&DAYS),
        'H' => "2[0-3]|[0-1][0-9]|[0-9]".to_owned(),
        'M' => "[0-5][0-9]|[0-9]".to_owned(),
        'S' => "6[0-1]|[0-5][0-9]|[0-9]".to_owned(),
        'f' => "[0-9]{1,6}".to_owned(),
        _ => return None,
    })
}

impl DateFormat {
    /// Errors: a directive that is not supported, or one twice.
    pub fn new(member: &Member<'_>) -> Result<DateFormat> {
        let format = member.text()?;
        let mut pattern = String::from("(?i)^");
        let (mut seen, mut chars) = (String::new(), format.chars().peekable());
        while let Some(c) = chars.next() {
            if c.is_whitespace() {
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                pattern.push_str(r"[\s\x1c-\x1f]+");
                continue;
            }
            if c != '%' {
                pattern.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
                continue;
            }
            match chars.next() {
                Some('%') => pattern.push('%'),
                Some(letter) => {
                    let unknown = || member.unsupported(&format!("directive %{letter}"));
                    let matches = directive(letter).ok_or_else(unknown)?;
                    if seen.contains(letter) {
                        return Err(member.unsupported(&format!("directive %{letter} twice")));
                    }
                    seen.push(letter);
                    pattern.push_str(&format!("(?P<{letter}>{matches})"));
                }
                None => return Err(member.wrong("a format, which does not end with %")),
            }
        }
        let has = |letters: &str| letters.chars().filter(|c| seen.contains(*c)).count();
        // Which of two that say the same counts depends on their order there.
        let is_double = has("yY") > 1 || has("mbB") > 1 || has("j") > 0 && has("mbBd") > 0;
        if is_double || has("j") > has("yY") {
            return Err(member.unsupported("a day or a year said twice, or a day of no year,"));
        }
        let pattern = Regex::new(&pattern).map_err(|_| member.wrong("a format of dates"))?;
        Ok(DateFormat {
            pattern,
            format: format.to_owned(),
        })
    }

    /// The eight digits of a date.
    ///
    /// Errors: it has another format; there is no such day.
    pub fn read(&self, value: &str) -> Result<String> {
        let found = self.pattern.captures(value);
        let whole = found.filter(|found| found.get(0).is_some_and(|all| all.end() == value.len()));
        let no_date = || refused(format!("is no date of format \"{}\"", self.format));
        let date = whole
            .and_then(|found| date_of(&found))
            .ok_or_else(no_date)?;
        // A year before 1000 has no zeros in front, as Python writes it on Linux.
        Ok(format!(
            "{}{:02}{:02}",
            date.year(),
            date.month(),
            date.day()
        ))
    }
}

fn date_of(found: &Captures<'_>) -> Option<NaiveDate> {
    let number = |name: &str| -> Option<u32> { found.name(name)?.as_str().trim().parse().ok() };
    let in_list = |name: &str, list: &[&str], most: usize| -> Option<u32> {
        let text = found.name(name)?.as_str().to_lowercase();
        let at = list
            .iter()
            .position(|of| of[..of.len().min(most)] == text)?;
        Some(at as u32 + 1)
    };
    let year = number("Y").or_else(|| {
        let short = number("y")?;
        Some(short + if short <= 68 { 2000 } else { 1900 })
    });
    let month = number("m");
    let month = month.or_else(|| in_list("b", &MONTHS, 3).or_else(|| in_list("B", &MONTHS, 9)));
    // A letter that is equal to one of a name but for its case, as ſ to s, makes no name.
    if month.is_none() && (found.name("b").is_some() || found.name("B").is_some()) {
        return None;
    }
    if number("S").is_some_and(|second| second > 59) {
        return None;
    }
    let year = year.unwrap_or(1900) as i32;
    // Python has no others.
    let is_year = |date: &NaiveDate| (1..=9999).contains(&date.year());
    let date = match number("j") {
        // Day 366 of a year that has fewer is the first one of the next year, as there.
        Some(of_year) => {
            NaiveDate::from_yo_opt(year, 1)?.checked_add_days(Days::new(u64::from(of_year) - 1))
        }
        None => NaiveDate::from_ymd_opt(year, month.unwrap_or(1), number("d").unwrap_or(1)),
    };
    date.filter(is_year)
}
