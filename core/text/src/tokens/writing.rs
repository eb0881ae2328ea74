//! Characters of a token: what they are, and how they are written.
//!
//! What Unicode says of them comes from crates of fixed versions, and not from the standard library, whose tables
//! change.

use unicode_general_category::{get_general_category, GeneralCategory as Gc};
use unicode_normalization::{is_nfc_quick, IsNormalized, UnicodeNormalization};

use crate::is_letter_or_digit;
use base::Ticker;
use base::{Error, Result};

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

/// Calls `each` with the characters of `text` in lower case and in their composed form (NFC), so that texts that look
/// the same become the same tokens. Those that are as if they were not there are left out.
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
        return text
            .bytes()
            .try_for_each(|byte| each(byte.to_ascii_lowercase().into()));
    }
    let there = text
        .chars()
        .filter(|&c| c.is_ascii() || c != GRAPHEME_JOINER && sort(c) != Sort::Nothing);
    // composed behind lower case: W with a ring has no character of its own, w with a ring has. stream_safe bounds what
    // has to be buffered, however many marks are piled up; it puts a grapheme joiner between them.
    there
        .flat_map(lower)
        .stream_safe()
        .nfc()
        .try_for_each(&mut each)
}

const GRAPHEME_JOINER: char = '\u{34f}';

/// A character in lower case. A sigma at the end of a word is a sigma.
fn lower(c: char) -> impl Iterator<Item = char> {
    let [first, second] = match c {
        _ if c.is_ascii() => [c.to_ascii_lowercase(), '\0'],
        'ς' => ['σ', '\0'],
        _ => match unicode_case_mapping::to_lowercase(c).map(char::from_u32) {
            [None | Some('\0'), _] => [c, '\0'],
            [Some(first), second] => [first, second.unwrap_or('\0')],
        },
    };
    [Some(first), (second != '\0').then_some(second)]
        .into_iter()
        .flatten()
}

/// Composes a token of which something has been left out, where that has brought together what composes.
///
/// Errors: out of memory.
pub(super) fn compose(token: &mut String, ticker: &mut Ticker<impl FnMut()>) -> Result<()> {
    if token.is_ascii() || is_nfc_quick(token.chars()) == IsNormalized::Yes {
        return Ok(());
    }
    let mut composed = String::new();
    token.chars().stream_safe().nfc().try_for_each(|c| {
        ticker.step();
        push(&mut composed, c)
    })?;
    *token = composed;
    Ok(())
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
