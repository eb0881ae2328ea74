//! Identity text: its normal form, abbreviations, sounds, n-grams, and how alike two texts are.

use base::{Error, Result};
use pgrx::pg_sys;
use std::cell::RefCell;
use text::as_written;
use text::for_each_sound;
use text::names::{self, name_forms, name_parts, Rarity};
use text::ngram::{check_length, index, similarity, Gaps};

use super::rule_sets::rules_argument;
use pg::error::OrRaise;
use pg::function::record::record;
use pg::function::rows::text_datum;
use pg::values::text::{to_database, Text};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::{fixed_array, ngram_array, TextArray, Tokens};

// Identity text to its normal form.

/// `(text text, filler boolean, rules integer) RETURNS text`
#[entry]
fn ident_normalize(text: Text<'_>, filler: bool, fcinfo: pg_sys::FunctionCallInfo) -> String {
    // SAFETY: declared with these arguments, and perhaps an integer, and STRICT.
    let rules = unsafe { rules_argument(fcinfo, 2) };
    text::normalize_by(text.as_str(), rules, filler, check_for_interrupts).or_raise()
}

#[entry]
fn ident_luhn(number: Text<'_>) -> bool {
    text::luhn(number.as_str())
}

// Abbreviations written out.

#[entry]
fn ident_expand(text: Text<'_>, language: Text<'_>, version: i32) -> String {
    text::expand(
        text.as_str(),
        language.as_str(),
        version.into(),
        check_for_interrupts,
    )
    .or_raise()
}

// How words sound.

/// `(text text, algorithm text) RETURNS text[]`
#[entry]
fn ident_phonetic(text: Text<'_>, algorithm: Text<'_>) -> NewValue {
    let sound = algorithm.as_str().parse().or_raise();
    TextArray::filled(|codes| {
        for_each_sound(
            text.as_str(),
            sound,
            |code| codes.push_text(code),
            check_for_interrupts,
        )
    })
}

// Exact similarity of two texts, symbol by symbol.

#[entry]
fn ident_edit_sim(a: Text<'_>, b: Text<'_>) -> f64 {
    text::edit_similarity(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}

#[entry]
fn ident_damerau(a: Text<'_>, b: Text<'_>) -> f64 {
    text::damerau_similarity(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}

#[entry]
fn ident_jaro_winkler(a: Text<'_>, b: Text<'_>) -> f64 {
    text::jaro_winkler(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}

pg::session_state! {
    /// A text and its normal form, one for each argument: a statement compares the same one with row after row.
    static LAST: [RefCell<(String, String)>; 2] = [const { RefCell::new((String::new(), String::new())) }; 2];
    "normal forms" by "text, the last of each argument of ident_edit_within" until "another is asked for"
        bytes |last| last.iter().map(|last| last.borrow().0.capacity() + last.borrow().1.capacity()).sum();
}

/// Longer texts are not kept.
const LONGEST_KEPT: usize = 1000;

/// Has the normal form of an argument, that of the last call where it is the same text.
fn with_normal<T>(i: usize, text: &str, run: impl FnOnce(&str) -> T) -> T {
    LAST.with(|last| {
        let last = &last[i];
        if last.borrow().0 != text {
            let normal = text::normalize(text, false, check_for_interrupts).or_raise();
            if text.len() > LONGEST_KEPT {
                return run(&normal);
            }
            let mut last = last.borrow_mut();
            last.0.clear();
            last.0.push_str(text);
            last.1 = normal;
        }
        run(&last.borrow().1)
    })
}

#[entry]
fn ident_edit_within(a: Text<'_>, b: Text<'_>, k: i32) -> bool {
    let most = text::check_edits(k.into()).or_raise();
    with_normal(0, a.as_str(), |a| {
        with_normal(1, b.as_str(), |b| text::edit_within(a, b, most))
    })
    .or_raise()
}

// The same of texts as they are written, by the names that other databases have for it.

#[entry]
fn jaro_similarity(a: Text<'_>, b: Text<'_>) -> f64 {
    as_written::jaro(a.as_str(), b.as_str()).or_raise()
}

#[entry]
fn jaro_winkler_similarity(a: Text<'_>, b: Text<'_>) -> f64 {
    as_written::jaro_winkler(a.as_str(), b.as_str()).or_raise()
}

#[entry]
fn damerau_levenshtein(a: Text<'_>, b: Text<'_>) -> i32 {
    // At most the characters of the longer one.
    as_written::damerau_levenshtein(a.as_str(), b.as_str(), check_for_interrupts).or_raise() as i32
}

// n-grams of text.

/// `(text text, ngram integer, by_word boolean, filler boolean) RETURNS text[]`
#[entry]
fn ident_ngrams(text: Text<'_>, ngram: i32, by_word: bool, filler: bool) -> NewValue {
    let length = check_length(ngram.into()).or_raise();
    let gaps = Gaps::new(by_word, filler).or_raise();
    ngram_array(text.as_str(), length, gaps)
}

#[entry]
fn ident_ngram_index(ngram: Text<'_>) -> i64 {
    // eight symbols stay far below 2^63
    index(ngram.as_str()).or_raise() as i64
}

#[entry]
fn ident_ngram_sim(a: Text<'_>, b: Text<'_>, ngram: i32, by_word: bool, filler: bool) -> f64 {
    let length = check_length(ngram.into()).or_raise();
    let gaps = Gaps::new(by_word, filler).or_raise();
    similarity(a.as_str(), b.as_str(), length, gaps, check_for_interrupts).or_raise()
}

// Names of persons and companies.

// A person's name to its parts.

/// `(name text) RETURNS (titles text, given text, particles text, surname text, suffixes text, nickname text, born
/// text)`
#[entry]
fn ident_name(name: Text<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let parts = name_parts(name.as_str(), check_for_interrupts).or_raise();
    let part = |part: Option<String>| part.map(|part| text_datum(&to_database(&part)));
    record(
        fcinfo,
        [
            parts.titles,
            parts.given,
            parts.particles,
            parts.surname,
            parts.suffixes,
            parts.nickname,
            parts.born,
        ]
        .map(part),
    )
}

// Short and familiar forms of given names.

/// `(name text, version integer) RETURNS text[]`
#[entry]
fn ident_name_forms(name: Text<'_>, version: i32) -> NewValue {
    TextArray::filled(|array| {
        let forms = name_forms(name.as_str(), version.into(), check_for_interrupts)?;
        forms.iter().try_for_each(|form| array.push_text(form))
    })
}

// How similar two names are.

/// `(a text, b text, version integer, words text[], weights float8[]) RETURNS bloom_score`
///
/// Errors: an unknown version, a weight out of range, another number of words than of weights, or too many (22023); a
/// weight that is NULL (22004).
#[entry]
fn ident_name_sim(a: Text<'_>, b: Text<'_>, version: i32, fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    names::check_version(version.into()).or_raise();
    // SAFETY: the function is declared with these arguments, and STRICT.
    let rarity = unsafe {
        let words = Tokens::argument(fcinfo, 3).or_raise();
        let weights = (*fcinfo).args.as_slice(5)[4].value;
        fixed_array(weights, "weight", |weights| rarity(&words, weights)).or_raise()
    };
    names::similarity(a.as_str(), b.as_str(), &rarity, check_for_interrupts)
}

/// A word that is NULL is left out, with the weight at its place.
///
/// Errors: those of [`Rarity::add`]; another number of words than of weights.
fn rarity(words: &Tokens<'_>, weights: &[f64]) -> Result<Rarity> {
    if words.places() == 0 && weights.is_empty() {
        return Ok(Rarity::NONE);
    }
    if words.places() != weights.len() {
        let (words, weights) = (words.places(), weights.len());
        return Err(
            Error::invalid(format!("{words} words do not fit {weights} weights"))
                .detail("Each word has the weight at its place."),
        );
    }
    let mut rarity = Rarity::default();
    let mut weights = weights.iter();
    words.all_places(|word| {
        let weight = *weights.next().expect("as many as words");
        match word {
            Some(word) => rarity.add(word, weight, check_for_interrupts),
            None => Ok(()),
        }
    })?;
    Ok(rarity.sorted())
}
