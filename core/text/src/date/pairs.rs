//! The digits of a date as tokens, for signatures in which what is nearly the same date has much in common.

use super::read::digit;
use base::error::quoted;
use base::Ticker;
use base::{Error, ErrorKind, Result};

/// Digits of a date, and how many of the first say the century.
const DIGITS: usize = 8;
const CENTURY: usize = 2;

/// Two places with their digits: `1629` says that the first digit is 6 and the second one 9.
pub type DigitPair = [u8; 4];

/// Calls `each` with the tokens of a date of eight digits, `YYYYMMDD`: every two of the six digits YYMMDD with their
/// places; the same of the date with month and day in ascending order; and the same with the two digits of each part in
/// ascending order. So two dates with day and month swapped, or with two digits swapped, still have tokens in common.
/// The century counts for nothing.
///
/// A month or day 00 is not known, and gives no token. There is none at all if both are 00, or of fewer than eight
/// digits. `turn` is called now and then.
///
/// Errors: as [`eight_digits`].
pub fn for_each_digit_pair(
    text: &str,
    turn: impl FnMut(),
    mut each: impl FnMut(DigitPair),
) -> Result<()> {
    let Some(written) = eight_digits(text, turn)? else {
        return Ok(());
    };
    let [year, month, day] = [0, 2, 4].map(|at| [written[CENTURY + at], written[CENTURY + at + 1]]);
    let known = [true, month != *b"00", day != *b"00"];
    if known == [true, false, false] {
        return Ok(());
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
    Ok(())
}

/// The eight digits of a date: with nothing between them, or in groups of four, two and two. `None` for fewer digits
/// with nothing between them, and for none: what has no date is similar to nothing.
///
/// Errors: digits in other groups, such as 27.05.1964, which would be another date in this order; more than eight.
fn eight_digits(text: &str, turn: impl FnMut()) -> Result<Option<[u8; DIGITS]>> {
    let mut ticker = Ticker::new(turn);
    let mut digits = [0; DIGITS];
    let mut number = 0;
    // How many digits stand before each group but the first.
    let mut before = Vec::new();
    let mut apart = false;
    for c in text.chars() {
        ticker.step();
        let Some(value) = digit(c) else {
            apart = true;
            continue;
        };
        if apart && number > 0 {
            before.push(number);
        }
        apart = false;
        let Some(place) = digits.get_mut(number) else {
            return Err(other_digits(text, "It has more than eight digits."));
        };
        *place = b'0' + value as u8;
        number += 1;
    }
    match before[..] {
        [] if number < DIGITS => Ok(None),
        [] => Ok(Some(digits)),
        [4, 6] if number == DIGITS => Ok(Some(digits)),
        _ => Err(other_digits(
            text,
            "Its digits are not in groups of four, two and two.",
        )),
    }
}

fn other_digits(text: &str, detail: &str) -> Error {
    let message = format!(
        "\"{}\" has not the digits of a date as YYYYMMDD or YYYY-MM-DD",
        quoted(text)
    );
    Error::new(ErrorKind::DatetimeFormat, message)
        .detail(detail)
        .hint("Use ident_date(), ident_date_or_null() or ident_date_text() to read a date in another format.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_signed(text: &str) -> Option<bool> {
        let mut tokens = 0;
        let outcome = for_each_digit_pair(text, || (), |_| tokens += 1);
        outcome.ok().map(|()| tokens > 0)
    }

    #[test]
    fn digits_in_another_order_are_refused() {
        for text in [
            "19640527",
            "1964-05-27",
            " 1964. 05. 27.",
            "1964年05月27日",
            "１９６４０５２７",
            "19648627",
            "1964/86/27",
            "19640500",
        ] {
            assert_eq!(is_signed(text), Some(true), "{text}");
        }
        for text in [
            "", " ", "unknown", "1964", "640527", "1964052", "19640000", "00000000", "ca. 1964",
        ] {
            assert_eq!(is_signed(text), Some(false), "{text}");
        }
        for text in [
            "27.05.1964",
            "05/27/1964",
            "1964-5-27",
            "27.5.64",
            "1964-05",
            "1964-05-27 12:00",
            "1964-05-270",
            "196405271",
            "27051964 1",
            "1 2 3 4 5 6 7 8",
        ] {
            assert_eq!(is_signed(text), None, "{text}");
        }
    }
}
