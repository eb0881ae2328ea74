//! Dates of eight digits, YYYYMMDD. Any eight digits are compared, possible dates or not.

use super::digits::differing;

/// Eight digits, four bits each, the first one highest.
pub(super) type Digits = u32;

/// The digits of a text that has exactly eight of them.
pub(super) fn digits_of(text: &str) -> Option<Digits> {
    let (mut digits, mut n) = (0u32, 0);
    for byte in text.bytes().filter(u8::is_ascii_digit) {
        n += 1;
        if n > 8 {
            return None;
        }
        digits = digits << 4 | u32::from(byte - b'0');
    }
    (n == 8).then_some(digits)
}

/// The day of a point in time that is written as in JSON, `2020-01-06T22:30:00`; nothing of one that is infinite; any other
/// text as it is.
pub(super) fn without_time(text: &str) -> &str {
    if matches!(text, "infinity" | "-infinity") {
        return "";
    }
    let is_day = |day: &str| day.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let is_time = |time: &str| {
        let mut bytes = time.bytes();
        bytes.by_ref().take(2).all(|b| b.is_ascii_digit()) && bytes.next() == Some(b':')
    };
    match text.split_once('T') {
        Some((day, time)) if is_day(day) && is_time(time) => day,
        _ => text,
    }
}

const YEAR: u32 = 0xffff_0000;
const MONTH: u32 = 0xff00;
const DAY: u32 = 0xff;

/// How far two different dates agree, best first, from 0 to 5: one digit or two neighbours wrong; day and month
/// swapped; two parts equal; two digits wrong; one part equal; else.
pub(super) fn compare(a: Digits, b: Digits) -> u8 {
    let changed = a ^ b;
    let (wrong, exchanged) = differing(a.into(), b.into());
    if wrong == 1 || exchanged {
        return 0;
    }
    let swapped = (a & MONTH) >> 8 | (a & DAY) << 8;
    if changed & YEAR == 0 && swapped == b & (MONTH | DAY) {
        return 1;
    }
    let parts = [YEAR, MONTH, DAY];
    let equal = parts.iter().filter(|&&part| changed & part == 0).count();
    match (equal, wrong) {
        (2, _) => 2,
        (_, 2) => 3,
        (1, _) => 4,
        _ => 5,
    }
}

/// The number of the day that the digits are, from 1 of January of the year 1 on; `None` if there is no such day.
pub(super) fn days_of(digits: Digits) -> Option<u32> {
    let part = |at: u32, n: u32| {
        (0..n)
            .rev()
            .fold(0, |all, i| all * 10 + (digits >> (at + 4 * i) & 15))
    };
    text::day_number(part(16, 4), part(8, 2), part(0, 2))
}

/// How far two days agree that are so many days apart, best first, from 0 to 5.
pub(super) fn compare_days(apart: u32) -> u8 {
    [1, 3, 7, 31, 92]
        .iter()
        .filter(|&&most| apart > most)
        .count() as u8
}

#[cfg(test)]
mod tests {
    use super::{compare, compare_days, days_of, digits_of};

    #[test]
    fn dates_have_levels() {
        let level = |a, b| compare(digits_of(a).unwrap(), digits_of(b).unwrap());
        let cases = [
            ("1990-01-02", "1990-01-03", 0),
            ("19900102", "1990-01-20", 0),
            ("1990-01-02", "1909-01-02", 0),
            ("1990-03-12", "1990-12-03", 1),
            ("1990-01-01", "1990-01-12", 2),
            ("1990-01-01", "1974-01-01", 2),
            ("1990-01-01", "1991-01-02", 3),
            ("1990-01-23", "1974-05-23", 4),
            ("1990-01-23", "1974-05-18", 5),
        ];
        for (a, b, is) in cases {
            assert_eq!((level(a, b), level(b, a)), (is, is), "{a} {b}");
        }
        let days = |text| days_of(digits_of(text).unwrap());
        let level = |a, b| compare_days(days(a).unwrap().abs_diff(days(b).unwrap()));
        let cases = [
            ("2020-02-28", "2020-02-29", 0),
            ("2020-02-28", "2020-03-01", 1),
            ("2021-02-28", "2021-03-01", 0),
            ("2019-12-30", "2020-01-06", 2),
            ("2020-01-01", "2020-02-01", 3),
            ("2020-01-01", "2020-04-02", 4),
            ("2020-01-01", "2020-04-03", 5),
            ("0001-01-01", "9999-12-31", 5),
        ];
        for (a, b, is) in cases {
            assert_eq!((level(a, b), level(b, a)), (is, is), "{a} {b}");
        }
        assert_eq!(
            (days("0001-01-01"), days("2021-02-29"), days("0000-01-01")),
            (Some(1), None, None)
        );
        assert_eq!(digits_of("1990-01-1"), None);
        assert_eq!(digits_of("1990-01-123"), None);
    }
}
