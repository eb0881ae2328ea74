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

#[cfg(test)]
mod tests {
    use super::{compare, digits_of};

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
        assert_eq!(digits_of("1990-01-1"), None);
        assert_eq!(digits_of("1990-01-123"), None);
    }
}
