//! A value as its characters, its words, and what each contributes to the normal form.

use unicode_segmentation::UnicodeSegmentation;

use text::{is_letter_or_digit, scan};

/// A character as readers take it: a grapheme cluster.
pub(super) struct Letter<'a> {
    pub text: &'a str,
    /// Its normal form, empty for what is no letter and no digit.
    pub normal: Vec<u8>,
}

/// A word: letters, and what stands within it without ending it.
pub(super) struct Word {
    /// The first letter, and the one behind the last.
    pub letters: std::ops::Range<usize>,
    pub normal: Vec<u8>,
}

/// The characters of a value and the words that they make.
pub(super) struct Parsed<'a> {
    pub letters: Vec<Letter<'a>>,
    pub words: Vec<Word>,
}

impl<'a> Parsed<'a> {
    pub fn new(value: &'a str) -> Parsed<'a> {
        let mut letters = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        // Whether the next letter begins a word.
        let mut ended = true;
        for text in value.graphemes(true) {
            let mut normal = Vec::new();
            let mut ends = false;
            let symbols = &mut |symbol: text::Symbol| match symbol.ordinal() {
                Some(ordinal) => normal.push(ordinal),
                None => ends |= symbol == text::Symbol::SEPARATOR,
            };
            scan(text, symbols, || ());
            let i = letters.len();
            if normal.is_empty() {
                // A letter that says nothing by itself ends no word.
                ended |= ends && !text.chars().any(is_letter_or_digit);
            } else {
                match words.last_mut() {
                    Some(word) if !ended => {
                        word.letters.end = i + 1;
                        word.normal.extend_from_slice(&normal);
                    }
                    _ => words.push(Word {
                        letters: i..i + 1,
                        normal: normal.clone(),
                    }),
                }
                ended = false;
            }
            letters.push(Letter { text, normal });
        }
        Parsed { letters, words }
    }
}
