//! The digits of a date as tokens, for signatures in which what is nearly the same date has much in common.

use super::parse::first_digits;

/// Digits of a date, and how many of the first say the century.
const DIGITS: usize = 8;
const CENTURY: usize = 2;

/// Two places with their digits: `1629` says that the first digit is 6 and the second one 9.
pub type DigitPair = [u8; 4];

/// Calls `each` with the tokens of a date of eight digits, `YYYYMMDD`: every two of the six digits YYMMDD with their places; the same
/// of the date with month and day in ascending order; and the same with the two digits of each part in ascending order. So two dates
/// with day and month swapped, or with two digits swapped, still have tokens in common. Other characters between the digits count
/// for nothing, and so does the century.
///
/// A month or day 00 is not known, and gives no token. There is none at all if both are 00, or if the text has not eight digits.
/// `turn` is called now and then.
pub fn for_each_digit_pair(text: &str, turn: impl FnMut(), mut each: impl FnMut(DigitPair)) {
    let digits = first_digits(text, DIGITS + 1, turn);
    let Ok(written) = <[u8; DIGITS]>::try_from(digits.as_bytes()) else {
        return;
    };
    let [year, month, day] = [0, 2, 4].map(|at| [written[CENTURY + at], written[CENTURY + at + 1]]);
    let known = [true, month != *b"00", day != *b"00"];
    if known == [true, false, false] {
        return;
    }
    let ordered = match known {
        [_, true, true] => [year, month.min(day), month.max(day)],
        _ => [year, month, day],
    };
    let sorted = [year, month, day].map(|[a, b]| [a.min(b), a.max(b)]);
    for [[a, b], [c, d], [e, f]] in [[year, month, day], ordered, sorted] {
        let digits = [a, b, c, d, e, f];
        for i in 0..6 {
            for j in i + 1..6 {
                if known[i / 2] && known[j / 2] {
                    let [first, second] = [i, j].map(|at| b'1' + at as u8);
                    each([first, digits[i], second, digits[j]]);
                }
            }
        }
    }
}
