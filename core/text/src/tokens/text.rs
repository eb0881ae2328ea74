//! Free text to tokens: pieces between white space, without their punctuation, in lower case. Numbers keep sign and
//! point.

use std::cell::RefCell;

use super::writing::{compose, for_each_char, push, sort, Sort};
use base::Result;
use base::Ticker;

/// Calls `each` with the tokens of `text`, in order, repetitions included; `turn` is called now and then.
///
/// A piece that is a number, but for the punctuation around it and commas within it, keeps its sign and its point:
/// `(-3.50)` is `-3.50`, and `1,200` is `1200`. Any other keeps its letters, digits and the marks on them: `Let's` is
/// `lets`. A piece that has none is no token.
///
/// Errors: those of `each`; out of memory.
pub fn for_each_token(
    text: &str,
    turn: impl FnMut(),
    each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    for_each_part(text, |c| sort(c) == Sort::Space, turn, each)
}

/// The same for a text whose pieces lie between characters that `parts` says yes to.
pub(super) fn for_each_part(
    text: &str,
    parts: impl Fn(char) -> bool,
    turn: impl FnMut(),
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let turn = RefCell::new(turn);
    let turn = || (turn.borrow_mut())();
    let (mut of_pieces, mut of_text) = (Ticker::new(turn), Ticker::new(turn));
    let (mut piece, mut token) = (String::new(), String::new());
    let mut finish = |piece: &mut String| {
        write_token(piece, &mut token, &mut of_pieces)?;
        piece.clear();
        if token.is_empty() {
            return Ok(());
        }
        each(&token)
    };
    for_each_char(text, &mut of_text, |c| {
        if parts(c) {
            return finish(&mut piece);
        }
        push(&mut piece, c)
    })?;
    finish(&mut piece)
}

/// Writes the token of a piece in lower case; nothing, if it has no letter and no digit.
fn write_token(piece: &str, token: &mut String, ticker: &mut Ticker<impl FnMut()>) -> Result<()> {
    token.clear();
    let kept = |c: char| sort(c) == Sort::Letter;
    let Some(start) = piece.find(kept) else {
        return Ok(());
    };
    let end = piece
        .rfind(|c| matches!(sort(c), Sort::Letter | Sort::Mark))
        .unwrap_or(start);
    let end = end + piece[end..].chars().next().map_or(0, char::len_utf8);
    let inner = &piece[start..end];
    if let Some(has_point) = number(inner) {
        let before = &piece[..start];
        let pointed = before
            .strip_suffix('.')
            .filter(|b| !has_point && !b.ends_with('.'));
        let signed = pointed.unwrap_or(before);
        if signed.ends_with(['-', '\u{2212}']) {
            push(token, '-')?;
        } else if signed.ends_with('+') {
            push(token, '+')?;
        }
        if pointed.is_some() {
            push(token, '.')?;
        }
        return inner
            .chars()
            .filter(|c| *c != ',')
            .try_for_each(|c| push(token, c));
    }
    let mut on_letter = false;
    for c in inner.chars() {
        ticker.step();
        match sort(c) {
            Sort::Letter => on_letter = true,
            Sort::Mark if on_letter => {}
            _ => {
                on_letter = false;
                continue;
            }
        }
        push(token, c)?;
    }
    compose(token, ticker)
}

/// Whether a piece that begins with a letter or digit is a number, and if so, whether it has a point:
/// digits with commas between them, a point and digits, `e` and an exponent.
fn number(piece: &str) -> Option<bool> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match piece.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (piece, None),
    };
    if let Some(exponent) = exponent {
        let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if !digits(unsigned) {
            return None;
        }
    }
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let is_number = whole.split(',').all(digits) && fraction.is_none_or(digits);
    is_number.then_some(fraction.is_some())
}

#[cfg(test)]
mod tests {
    use super::super::collected;
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        collected(|each| for_each_token(text, || (), each))
    }

    #[test]
    fn punctuation_is_dropped_and_letters_are_lower_case() {
        assert_eq!(
            tokens("Let's take over the world!"),
            ["lets", "take", "over", "the", "world"]
        );
        assert_eq!(tokens("  --- \u{a0}\t\n ... "), [""; 0]);
        assert_eq!(tokens("foo_bar, e-mail: A&B"), ["foobar", "email", "ab"]);
        assert_eq!(tokens("STRAẞE Straße"), ["straße", "straße"]);
        assert_eq!(tokens("ΟΔΟΣ οδος"), ["οδοσ", "οδοσ"]);
        assert_eq!(tokens("İ"), ["i\u{307}"]);
    }

    #[test]
    fn numbers_keep_sign_and_point() {
        for (text, token) in [
            ("(-3.50),", "-3.50"),
            ("+49", "+49"),
            ("\u{2212}5", "-5"),
            ("3.", "3"),
            ("$3.50", "3.50"),
            ("-$3", "3"),
            (".5", ".5"),
            ("-.5%", "-.5"),
            ("...5", "5"),
            (".1.5", "1.5"),
            ("1,234.5", "1234.5"),
            ("1e-5", "1e-5"),
            ("1E5", "1e5"),
            ("1.2.3", "123"),
            ("10-20", "1020"),
            ("1.234,5", "12345"),
            ("1e", "1e"),
            ("v1.5", "v15"),
            ("3-D", "3d"),
            ("1,,2", "12"),
        ] {
            assert_eq!(tokens(text), [token], "{text}");
        }
    }

    #[test]
    fn what_looks_the_same_is_the_same() {
        assert_eq!(tokens("cafe\u{301}"), tokens("café"));
        assert_eq!(tokens("W\u{30a}"), ["ẘ"]);
        assert_eq!(tokens("e\u{ad}\u{301}"), ["é"]);
        assert_eq!(tokens("가-\u{11a8}"), ["각"]);
        assert_eq!(tokens("Fuß\u{ad}ball"), ["fußball"]);
        assert_eq!(tokens("1\u{fe0f}\u{20e3}"), ["1"]);
        assert_eq!(tokens("राजेश!"), ["राजेश"]);
        assert_eq!(tokens("\u{301}a \u{301}"), ["a"]);
    }
}
