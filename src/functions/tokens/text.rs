//! Texts to tokens, to words and to characters.

use text::tokens::{for_each_character, for_each_token, for_each_uax29_word, for_each_word};

use pg::values::text::Text;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::TextArray;

/// `(text text) RETURNS text[]`
#[entry]
fn ident_tokens_of_text(text: Text<'_>) -> NewValue {
    TextArray::filled(|tokens| {
        for_each_token(text.as_str(), check_for_interrupts, |token| {
            tokens.push_text(token)
        })
    })
}

/// `(text text, uax29 boolean) RETURNS text[]`
#[entry]
fn ident_words(text: Text<'_>, uax29: bool) -> NewValue {
    TextArray::filled(|words| {
        let keep = |word: &str| words.push_text(word);
        if uax29 {
            for_each_uax29_word(text.as_str(), check_for_interrupts, keep)
        } else {
            for_each_word(text.as_str(), check_for_interrupts, keep)
        }
    })
}

/// `(text text) RETURNS text[]`
#[entry]
fn ident_characters(text: Text<'_>) -> NewValue {
    TextArray::filled(|characters| {
        for_each_character(text.as_str(), check_for_interrupts, |token| {
            characters.push_text(token)
        })
    })
}
