//! What characters are: letters, marks, apostrophes. What Unicode says of them comes from a crate of fixed version, and
//! not from the standard library, whose tables change.

use unicode_general_category::{get_general_category, GeneralCategory as Gc};

/// Whether a symbol is a letter or a digit of any script.
pub fn is_letter_or_digit(c: char) -> bool {
    matches!(
        get_general_category(c),
        Gc::UppercaseLetter
            | Gc::LowercaseLetter
            | Gc::TitlecaseLetter
            | Gc::ModifierLetter
            | Gc::OtherLetter
            | Gc::DecimalNumber
            | Gc::LetterNumber
            | Gc::OtherNumber
    )
}

/// Whether a symbol is a decimal digit of any script.
pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || !c.is_ascii() && get_general_category(c) == Gc::DecimalNumber
}

/// Whether a symbol is a mark on another one, such as an accent.
pub fn is_mark(c: char) -> bool {
    matches!(
        get_general_category(c),
        Gc::NonspacingMark | Gc::SpacingMark | Gc::EnclosingMark
    )
}

/// Marks that only colour a letter: the combining blocks, Cyrillic titlo, and the vowel points of
/// Hebrew, Arabic and Syriac. The vowel signs of Indic and other scripts are spelling, not these.
pub(super) fn is_diacritic(c: char) -> bool {
    matches!(u32::from(c),
        0x0300..=0x036F | 0x0483..=0x0489 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF
        | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F
        | 0x0591..=0x05BD | 0x05BF | 0x05C1..=0x05C2 | 0x05C4..=0x05C5 | 0x05C7 | 0xFB1E
        | 0x0610..=0x061A | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06DC | 0x06DF..=0x06E4
        | 0x06E7..=0x06E8 | 0x06EA..=0x06ED | 0x08D3..=0x08E1 | 0x08E3..=0x08FF
        | 0x0711 | 0x0730..=0x074A)
}

/// Letters of the Latin script, by block; what is no letter in these blocks takes no diaeresis
/// that anybody writes.
pub(super) fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(u32::from(c),
            0x00AA | 0x00BA | 0x00C0..=0x00D6 | 0x00D8..=0x00F6 | 0x00F8..=0x02AF
            | 0x1D00..=0x1D25 | 0x1D6B..=0x1D77 | 0x1D79..=0x1D9A | 0x1E00..=0x1EFF
            | 0x2C60..=0x2C7F | 0xA722..=0xA787 | 0xA78B..=0xA7FF | 0xAB30..=0xAB5A | 0xAB60..=0xAB64)
}

pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(
        c,
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bb}' | '\u{2bc}' | '\u{2b9}' | '\u{2032}'
    )
}

/// Latin letters without a decomposition whose usual spelling is not what a transliteration
/// table gives.
pub(super) fn spelling(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' | 'ø' | 'Ø' => "oe",
        'ð' | 'Ð' => "dh",
        'þ' | 'Þ' => "th",
        'đ' | 'Đ' => "d",
        'ł' | 'Ł' => "l",
        'ı' => "i",
        _ => return None,
    })
}

/// Words of one meaning, with blanks between them.
#[derive(Clone, Copy)]
pub(super) struct WordList(pub &'static str);

impl WordList {
    /// Longer words are not looked up, even where a list has one.
    const LONGEST: usize = 16;

    /// Whether it has a word, which is written as the list's are.
    pub fn has(self, word: &str) -> bool {
        word.len() <= Self::LONGEST && self.0.split_ascii_whitespace().any(|one| one == word)
    }
}
