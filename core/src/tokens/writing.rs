//! Characters of a token: what they are, and how they are written.
//!
//! What Unicode says of them comes from crates of fixed versions, and not from the standard library, whose tables change.

use unicode_general_category::{get_general_category, GeneralCategory as Gc};
use unicode_normalization::UnicodeNormalization;

use crate::text::is_letter_or_digit;
use crate::tick::Ticker;
use crate::{Error, Result};

/// What a character is to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A letter or a digit.
    Letter,
    /// Stands on the letter before it: an accent that has no letter of its own, a vowel sign.
    Mark,
    /// Parts two tokens.
    Space,
    /// Invisible, as a soft hyphen is: as if it were not there.
    Nothing,
    /// Punctuation, symbols, and whatever else there is.
    Other,
}

pub(super) fn sort(c: char) -> Sort {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Sort::Letter,
        ' ' | '\t'..='\r' | '\u{85}' => Sort::Space,
        '\0'..='\x7f' => Sort::Other,
        // selectors of a variant of the character before
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Sort::Nothing,
        _ if is_letter_or_digit(c) => Sort::Letter,
        _ => match get_general_category(c) {
            Gc::NonspacingMark | Gc::SpacingMark => Sort::Mark,
            Gc::SpaceSeparator | Gc::LineSeparator | Gc::ParagraphSeparator => Sort::Space,
            Gc::Format => Sort::Nothing,
            _ => Sort::Other,
        },
    }
}

/// Calls `each` with the characters of `text` in their composed form (NFC), so that texts that look the same become the same tokens.
pub(super) fn for_each_char(
    text: &str,
    ticker: &mut Ticker<impl FnMut()>,
    mut each: impl FnMut(char) -> Result<()>,
) -> Result<()> {
    let mut each = |c| {
        ticker.step();
        each(c)
    };
    if text.is_ascii() {
        return text.chars().try_for_each(each);
    }
    // stream_safe bounds what has to be buffered, however many marks are piled up
    text.chars().stream_safe().nfc().try_for_each(&mut each)
}

/// Appends a character to a token in lower case.
///
/// Errors: out of memory.
pub(super) fn push_lower(token: &mut String, c: char) -> Result<()> {
    if c.is_ascii() {
        return push(token, c.to_ascii_lowercase());
    }
    match unicode_case_mapping::to_lowercase(c).map(char::from_u32) {
        // a sigma at the end of a word is a sigma
        _ if c == 'ς' => push(token, 'σ'),
        [Some('\0'), _] => push(token, c),
        lower => lower
            .into_iter()
            .flatten()
            .filter(|c| *c != '\0')
            .try_for_each(|c| push(token, c)),
    }
}

/// Appends a character.
///
/// Errors: out of memory.
pub(super) fn push(to: &mut String, c: char) -> Result<()> {
    push_str(to, c.encode_utf8(&mut [0; 4]))
}

/// Appends a text.
///
/// Errors: out of memory.
pub(super) fn push_str(to: &mut String, text: &str) -> Result<()> {
    to.try_reserve(text.len())
        .map_err(|_| Error::out_of_memory(to.len() + text.len()))?;
    to.push_str(text);
    Ok(())
}
