//! Chinese, Japanese and Korean text to tokens: its characters and the pairs of neighbours. Words of other scripts are
//! tokens in their normal form.

use std::cell::RefCell;

use unicode_general_category::{get_general_category, GeneralCategory as Gc};
use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, UnicodeScript};

use super::writing::{push, push_str};
use crate::is_letter_or_digit;
use crate::normalize::scan_words;
use base::Result;
use base::Ticker;

/// Calls `each` with the tokens of `text`, in order, repetitions included; `turn` is called now and then.
///
/// A token is each Han, Kana, Hangul or Bopomofo letter, in its compatibility form (NFKC), and each two of them that
/// follow each other with nothing but blanks and punctuation between them. What else has letters or digits is split
/// into words at anything but apostrophes, and each word becomes its normal form.
///
/// Errors: those of `each`; out of memory.
pub fn for_each_character(
    text: &str,
    turn: impl FnMut(),
    each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let turn = RefCell::new(turn);
    let turn = || (turn.borrow_mut())();
    let mut characters = Characters {
        each,
        before: String::new(),
        letter: String::new(),
        pair: String::new(),
        word: String::new(),
    };
    if text.is_ascii() {
        return characters.words(text, turn);
    }
    let mut ticker = Ticker::new(turn);
    // stream_safe bounds what has to be buffered, however many marks are piled up
    for c in text.chars().filter_map(written).stream_safe().nfkc() {
        ticker.step();
        if is_letter(c) {
            characters.end_word(turn)?;
            characters.end_letter()?;
            push(&mut characters.letter, c)?;
        } else if is_sound_mark(c) && characters.word.is_empty() {
            // on a letter that does not compose with it
            if !characters.letter.is_empty() && characters.letter.len() < LONGEST_LETTER {
                push(&mut characters.letter, c)?;
            }
        } else if c.is_whitespace() {
            characters.end_word(turn)?;
        } else {
            push(&mut characters.word, c)?;
        }
    }
    characters.end_word(turn)?;
    characters.end_letter()
}

/// Bytes of a letter with all marks on it that are kept.
const LONGEST_LETTER: usize = 16;

struct Characters<F> {
    each: F,
    /// The letter before, if the next one follows it.
    before: String,
    /// The last letter, which marks may follow.
    letter: String,
    pair: String,
    /// What has come since the last letter or blank, of other scripts and punctuation.
    word: String,
}

impl<F: FnMut(&str) -> Result<()>> Characters<F> {
    fn end_letter(&mut self) -> Result<()> {
        if self.letter.is_empty() {
            return Ok(());
        }
        if !self.before.is_empty() {
            self.pair.clear();
            push_str(&mut self.pair, &self.before)?;
            push_str(&mut self.pair, &self.letter)?;
            (self.each)(&self.pair)?;
        }
        (self.each)(&self.letter)?;
        std::mem::swap(&mut self.before, &mut self.letter);
        self.letter.clear();
        Ok(())
    }

    fn end_word(&mut self, turn: impl FnMut()) -> Result<()> {
        if self.word.is_empty() {
            return Ok(());
        }
        let word = std::mem::take(&mut self.word);
        self.words(&word, turn)?;
        self.word = word;
        self.word.clear();
        Ok(())
    }

    /// Of a text without letters of those scripts. If there is a word, it parts the letters around it.
    fn words(&mut self, text: &str, turn: impl FnMut()) -> Result<()> {
        let (mut normal, mut done) = (String::new(), Ok(()));
        let mut take = |symbol: Option<u8>| -> Result<()> {
            if let Some(symbol) = symbol {
                return push(&mut normal, symbol.into());
            }
            self.end_letter()?;
            self.before.clear();
            (self.each)(&normal)?;
            normal.clear();
            Ok(())
        };
        let take = |symbol| {
            if done.is_ok() {
                done = take(symbol);
            }
        };
        scan_words(text, take, turn);
        done
    }
}

/// A character as it is read: selectors of a variant are none, and an accent typed as an apostrophe is one.
fn written(c: char) -> Option<char> {
    match c {
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => None,
        '\u{b4}' | '\u{1ffd}' => Some('\''),
        _ => Some(c),
    }
}

/// Whether a letter is of one of these scripts, or of no other, as the sign for a long vowel is.
fn is_letter(c: char) -> bool {
    const SCRIPTS: [Script; 5] = [
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
        Script::Hangul,
        Script::Bopomofo,
    ];
    // the two crates need not have the same version of Unicode: letters that are newer to one of them have no category
    let letter = |c| is_letter_or_digit(c) || get_general_category(c) == Gc::Unassigned;
    // Hangul is the first of them
    c >= '\u{1100}' && letter(c) && {
        let scripts = c.script_extension();
        !scripts.is_common()
            && SCRIPTS
                .iter()
                .any(|script| scripts.contains_script(*script))
    }
}

/// The combining marks for voiced sounds.
fn is_sound_mark(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}')
}

#[cfg(test)]
mod tests {
    use super::super::collected;
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        collected(|each| for_each_character(text, || (), each))
    }

    #[test]
    fn characters_and_their_pairs() {
        assert_eq!(
            tokens("高石早苗"),
            ["高", "高石", "石", "石早", "早", "早苗", "苗"]
        );
        assert_eq!(tokens("李"), ["李"]);
        assert_eq!(tokens("김철수"), ["김", "김철", "철", "철수", "수"]);
        assert_eq!(tokens("さとう"), ["さ", "さと", "と", "とう", "う"]);
        assert_eq!(tokens("ㄅㄆ"), ["ㄅ", "ㄅㄆ", "ㄆ"]);
    }

    #[test]
    fn blanks_and_punctuation_part_no_letters_and_words_do() {
        assert_eq!(tokens("高石 早苗"), tokens("高石早苗"));
        assert_eq!(tokens("高石\u{3000}早苗。"), tokens("高石早苗"));
        assert_eq!(tokens("マイケル・ジャクソン"), tokens("マイケルジャクソン"));
        assert_eq!(
            tokens("株式会社Sony"),
            ["株", "株式", "式", "式会", "会", "会社", "社", "sony"]
        );
        assert_eq!(tokens("第3回"), ["第", "3", "回"]);
        assert_eq!(
            tokens("O'Brien & Müller-Lüdenscheidt 東"),
            ["obrien", "mueller", "luedenscheidt", "東"]
        );
        assert_eq!(tokens("O´Brien東"), ["obrien", "東"]);
        assert_eq!(tokens("Иванов, Anna"), ["ivanov", "anna"]);
    }

    #[test]
    fn what_is_written_in_another_way_is_the_same() {
        assert_eq!(tokens("ｶﾞｰﾄﾞ"), tokens("ガード"));
        assert_eq!(tokens("カ\u{3099}"), ["ガ"]);
        assert_eq!(tokens("㈱Ｓｏｎｙ"), ["株", "sony"]);
        assert_eq!(tokens("\u{1100}\u{1175}\u{11b7}"), ["김"]);
        assert_eq!(tokens("\u{f900}"), ["豈"]);
        assert_eq!(tokens("葛\u{e0100}"), ["葛"]);
        assert_eq!(tokens("あ\u{3099}い"), ["あ\u{3099}", "あ\u{3099}い", "い"]);
    }

    #[test]
    fn letters_of_all_blocks() {
        for text in [
            "々",
            "〆",
            "〇",
            "ー",
            "ゝ",
            "\u{20000}",
            "\u{2ebf0}",
            "\u{30000}",
            "\u{323af}",
            // of Unicode 17
            "\u{323b0}",
        ] {
            assert_eq!(tokens(&format!("一{text}")).len(), 3, "{text}");
        }
        for text in ["", " ", "・、。「」", "-", "\u{3099}", "⼀\u{301}"] {
            let letters = usize::from(text.starts_with('⼀'));
            assert_eq!(tokens(text).len(), letters, "{text}");
        }
    }
}
