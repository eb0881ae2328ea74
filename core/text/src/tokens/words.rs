//! Text to words, in lower case: runs of letters and digits, or the words of Unicode's rules (UAX 29).

use unicode_segmentation::UnicodeSegmentation;

use super::writing::{for_each_char, push, sort, Sort};
use base::Result;
use base::Ticker;

/// Calls `each` with the longest runs of letters and digits, and marks on them, of `text`; `turn` is called now and
/// then.
///
/// Errors: those of `each`; out of memory.
pub fn for_each_word(
    text: &str,
    turn: impl FnMut(),
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut word = String::new();
    let mut finish = |word: &mut String| {
        if word.is_empty() {
            return Ok(());
        }
        each(word)?;
        word.clear();
        Ok(())
    };
    for_each_char(text, &mut Ticker::new(turn), |c| match sort(c) {
        Sort::Letter => push(&mut word, c),
        Sort::Mark if !word.is_empty() => push(&mut word, c),
        _ => finish(&mut word),
    })?;
    finish(&mut word)
}

/// Calls `each` with the parts of `text` between the word boundaries of UAX 29 that have a letter or a digit: `Let's`
/// and `3.5` are words. `turn` is called now and then.
///
/// Errors: those of `each`; out of memory.
pub fn for_each_uax29_word(
    text: &str,
    turn: impl FnMut(),
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let ticker = &mut Ticker::new(turn);
    let mut composed = String::new();
    for_each_char(text, ticker, |c| push(&mut composed, c))?;
    for part in composed.split_word_bounds() {
        ticker.step();
        if part.chars().any(|c| sort(c) == Sort::Letter) {
            each(part)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::collected;
    use super::*;

    fn words(text: &str, uax29: bool) -> Vec<String> {
        collected(|each| match uax29 {
            false => for_each_word(text, || (), each),
            true => for_each_uax29_word(text, || (), each),
        })
    }

    #[test]
    fn a_word_is_a_run_of_letters_and_digits() {
        assert_eq!(
            words("Let's pay 3.50 €, e_mail-x!", false),
            ["let", "s", "pay", "3", "50", "e", "mail", "x"]
        );
        assert_eq!(words("Cafe\u{301} राजेश", false), ["café", "राजेश"]);
        assert_eq!(words("\u{301}...", false), [""; 0]);
    }

    #[test]
    fn words_by_uax29() {
        assert_eq!(
            words("Let's pay 3.50 €, e_mail-x!", true),
            ["let's", "pay", "3.50", "e_mail", "x"]
        );
        assert_eq!(words("Can\u{2019}t", true), ["can\u{2019}t"]);
        assert_eq!(words("... \u{301}", true), [""; 0]);
    }
}
