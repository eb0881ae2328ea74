//! Any Unicode text to the alphabet `a…z 0…9` (and `_` as filler), as a stream of [`Symbol`]s.
//!
//! What all [`Rules`] have in common:
//! 1. Compatibility forms decompose (NFKC), so `ﬁ` is `fi` and full-width letters are plain ones.
//! 2. A diacritic is dropped, but a diaeresis on some Latin letters, which the rule set names, leaves an `e`: `ü` is `ue`.
//! 3. Latin letters that do not decompose have their own spelling (`ß` is `ss`, `ø` is `oe`).
//! 4. Letters and digits of other scripts are transliterated by any_ascii from their composed form.
//!    A letter it does not know becomes `u` and its code point, so that it stays distinct.
//! 5. Everything else separates words; invisible format characters do not even that.
//!
//! The result depends on nothing but the text and the rule set: no locale, no setting.

use std::sync::LazyLock;

use unicode_general_category::{get_general_category, GeneralCategory as Gc};
use unicode_normalization::char::decompose_canonical;
use unicode_normalization::UnicodeNormalization;

use super::letters::{
    is_apostrophe, is_diacritic, is_latin, is_letter_or_digit, is_mark, spelling,
};
use super::rules::Rules;
use base::Ticker;
use base::{Error, Result};

/// The alphabet in the order of its ordinals; the first stands for a gap.
pub const ALPHABET: &[u8; 37] = b"_abcdefghijklmnopqrstuvwxyz0123456789";

/// What a stretch of text contributes: a symbol by its ordinal in the alphabet (1…36), or a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Symbol(u8);

impl Symbol {
    /// What is neither a letter nor a digit.
    pub const SEPARATOR: Symbol = Symbol(0x80);
    /// Separates like any other character, but does not end a word: O'Brien is one.
    pub const APOSTROPHE: Symbol = Symbol(0x81);

    /// Ordinal of a symbol, 1 for `a` … 36 for `9`; `None` for a gap.
    #[inline]
    pub fn ordinal(self) -> Option<u8> {
        (self.0 < 0x80).then_some(self.0)
    }

    const fn of_ascii(byte: u8) -> Symbol {
        match byte {
            b'a'..=b'z' => Symbol(byte - b'a' + 1),
            b'A'..=b'Z' => Symbol(byte - b'A' + 1),
            b'0'..=b'9' => Symbol(byte - b'0' + 27),
            b'\'' | b'`' => Symbol::APOSTROPHE,
            _ => Symbol::SEPARATOR,
        }
    }
}

const ASCII: [Symbol; 128] = {
    let mut table = [Symbol::SEPARATOR; 128];
    let mut i = 0;
    while i < 128 {
        table[i] = Symbol::of_ascii(i as u8);
        i += 1;
    }
    table
};

/// Below this code point every character is a starter that composes with nothing but the
/// combining marks that begin here.
const FIRST_MARK: char = '\u{300}';

/// Longest output of one character below [`FIRST_MARK`] (`¾` is `3`, gap, `4`).
const MAX_SYMBOLS: usize = 4;

/// A character that composes with nothing.
struct Simple {
    symbols: [Symbol; MAX_SYMBOLS],
    n: u8,
    /// A letter that contributes no symbol.
    silent: bool,
}

/// For each rule set, what each character below [`FIRST_MARK`] contributes when no mark follows it, worked out once by the
/// general path, so that both agree.
static LATIN: LazyLock<Vec<Vec<Simple>>> = LazyLock::new(|| Rules::all().map(latin).collect());

fn latin(rules: Rules) -> Vec<Simple> {
    (0..FIRST_MARK as u32)
        .map(|code| {
            let (mut symbols, mut n) = ([Symbol::SEPARATOR; MAX_SYMBOLS], 0);
            let mut buffer = [0; 4];
            let c = char::from_u32(code).expect("no surrogates below U+0300");
            let mut keep = |symbol| {
                symbols[n as usize] = symbol;
                n += 1;
            };
            let text = c.encode_utf8(&mut buffer);
            let mut general = General::new(rules);
            general.run(text, &mut keep, &mut Ticker::new(|| ()));
            Simple {
                symbols,
                n,
                silent: general.silent,
            }
        })
        .collect()
}

/// Streams what `text` contributes, in order; `tick` is called now and then.
pub fn scan(text: &str, rules: Rules, emit: &mut impl FnMut(Symbol), tick: impl FnMut()) {
    let mut ticker = Ticker::new(tick);
    if text.is_ascii() {
        for &byte in text.as_bytes() {
            emit(ASCII[usize::from(byte)]);
            ticker.step();
        }
        return;
    }
    let mut found = 0u64;
    let mut counted = |symbol: Symbol| {
        found += u64::from(symbol.ordinal().is_some());
        emit(symbol);
    };
    let silent_letters = scan_unicode(text, rules, &mut counted, &mut ticker);
    // A letter may transliterate to a mere apostrophe; text made of nothing else must not vanish.
    if found == 0 && silent_letters {
        for c in text.chars().stream_safe().nfkc() {
            if is_letter_or_digit(c) && get_general_category(c) != Gc::ModifierLetter {
                code_point(c, emit);
            }
            ticker.step();
        }
    }
}

/// Streams the words of `text`: their symbols, and `None` behind each word. An apostrophe ends none: O'Brien is one.
/// By rule set 1. `tick` is called now and then.
pub(crate) fn scan_words(text: &str, mut each: impl FnMut(Option<u8>), tick: impl FnMut()) {
    let mut open = false;
    let mut take = |symbol: Symbol| {
        if let Some(ordinal) = symbol.ordinal() {
            open = true;
            each(Some(ALPHABET[usize::from(ordinal)]));
        } else if symbol == Symbol::SEPARATOR && std::mem::take(&mut open) {
            each(None);
        }
    };
    scan(text, Rules::FIRST, &mut take, tick);
    if open {
        each(None);
    }
}

/// True when a letter or digit contributed no symbol.
fn scan_unicode(
    text: &str,
    rules: Rules,
    emit: &mut impl FnMut(Symbol),
    ticker: &mut Ticker<impl FnMut()>,
) -> bool {
    let latin = &LATIN[rules.place()];
    let mut silent = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        if c < FIRST_MARK && after.chars().next().is_none_or(|next| next < FIRST_MARK) {
            let simple = &latin[c as usize];
            simple.symbols[..usize::from(simple.n)]
                .iter()
                .for_each(|&p| emit(p));
            silent |= simple.silent;
            rest = after;
            ticker.step();
            continue;
        }
        // A run that has to be normalised as a whole: up to the next character that is followed
        // by no mark, which always begins a new composition.
        let mut end = rest.len();
        let mut chars = rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            ticker.step();
            if c < FIRST_MARK && chars.peek().is_none_or(|&(_, next)| next < FIRST_MARK) {
                end = at;
                break;
            }
        }
        let mut general = General::new(rules);
        general.run(&rest[..end], emit, ticker);
        silent |= general.silent;
        rest = &rest[end..];
    }
    silent
}

/// The general path: any characters, marks included.
struct General {
    rules: Rules,
    /// The last starter was a letter that takes an `e`, and no diaeresis has been seen on it.
    takes_e: bool,
    /// A letter contributed no symbol.
    silent: bool,
}

impl General {
    fn new(rules: Rules) -> General {
        General {
            rules,
            takes_e: false,
            silent: false,
        }
    }

    fn run(
        &mut self,
        text: &str,
        emit: &mut impl FnMut(Symbol),
        ticker: &mut Ticker<impl FnMut()>,
    ) {
        // An acute accent typed as an apostrophe would decompose into a space and a mark.
        // stream_safe bounds what normalisation has to buffer, however many marks are piled up.
        let chars = text
            .chars()
            .map(|c| {
                if matches!(c, '\u{b4}' | '\u{1ffd}') {
                    '\''
                } else {
                    c
                }
            })
            .stream_safe()
            .nfkc();
        for c in chars {
            self.composed(c, emit);
            ticker.step();
        }
    }

    fn composed(&mut self, c: char, emit: &mut impl FnMut(Symbol)) {
        if c.is_ascii() || is_diacritic(c) || spelling(c).is_some() {
            return self.part(c, emit);
        }
        let mut first = None;
        decompose_canonical(c, |part| {
            first.get_or_insert(part);
        });
        let first = first.unwrap_or(c);
        if first != c && is_latin(first) {
            decompose_canonical(c, |part| self.part(part, emit));
        } else {
            self.part(c, emit);
        }
    }

    /// A character that is not to be taken apart further.
    fn part(&mut self, c: char, emit: &mut impl FnMut(Symbol)) {
        if is_diacritic(c) {
            if c == '\u{308}' && self.takes_e {
                emit(Symbol::of_ascii(b'e'));
                self.takes_e = false;
            }
            return;
        }
        self.takes_e = self.rules.takes_e(c);
        if c.is_ascii() {
            emit(ASCII[c as usize]);
        } else if let Some(spelled) = spelling(c) {
            spelled.bytes().for_each(|b| emit(Symbol::of_ascii(b)));
        } else if is_apostrophe(c) {
            emit(Symbol::APOSTROPHE);
        } else if is_letter_or_digit(c) || is_mark(c) {
            self.transliterate(c, emit);
        } else if get_general_category(c) != Gc::Format {
            emit(Symbol::SEPARATOR);
        }
    }

    fn transliterate(&mut self, c: char, emit: &mut impl FnMut(Symbol)) {
        let ascii = any_ascii::any_ascii_char(c);
        let mut symbols = 0;
        for byte in ascii.bytes().filter(u8::is_ascii_alphanumeric) {
            emit(Symbol::of_ascii(byte));
            symbols += 1;
        }
        if symbols > 0 || is_mark(c) {
            return;
        }
        if ascii.is_empty() {
            code_point(c, emit);
        } else if get_general_category(c) == Gc::ModifierLetter {
            // signs such as the Hawaiian okina or the katakana length mark stand within a word
            emit(Symbol::APOSTROPHE);
        } else {
            self.silent = true;
        }
    }
}

fn code_point(c: char, emit: &mut impl FnMut(Symbol)) {
    for byte in format!("u{:x}", c as u32).bytes() {
        emit(Symbol::of_ascii(byte));
    }
}

/// The normal form of `text` by rule set 1; with `filler`, one `_` between words. `tick` is called now and then.
///
/// Errors: out of memory.
pub fn normalize(text: &str, filler: bool, tick: impl FnMut()) -> Result<String> {
    normalize_by(text, Rules::FIRST, filler, tick)
}

/// The same by any rule set.
///
/// Errors: out of memory.
pub fn normalize_by(text: &str, rules: Rules, filler: bool, tick: impl FnMut()) -> Result<String> {
    let mut out = Vec::new();
    let mut refused = false;
    out.try_reserve(text.len())
        .map_err(|_| Error::out_of_memory(text.len()))?;
    let mut gap = false;
    let mut append = |symbol: Symbol| {
        let Some(ordinal) = symbol.ordinal() else {
            gap = filler;
            return;
        };
        if out.capacity() - out.len() < 2 && out.try_reserve(2 + out.len() / 2).is_err() {
            refused = true;
            return;
        }
        if gap && !out.is_empty() {
            out.push(ALPHABET[0]);
        }
        gap = false;
        out.push(ALPHABET[usize::from(ordinal)]);
    };
    scan(text, rules, &mut append, tick);
    if refused {
        return Err(Error::out_of_memory(text.len()));
    }
    Ok(String::from_utf8(out).expect("the alphabet is ASCII"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(s: &str) -> String {
        normalize(s, false, || ()).unwrap()
    }

    fn filled(s: &str) -> String {
        normalize(s, true, || ()).unwrap()
    }

    #[test]
    fn other_scripts_are_transliterated_from_their_composed_form() {
        assert_eq!(plain("Μαρία"), "maria");
        assert_eq!(plain("Иванов"), "ivanov");
        assert_eq!(plain("Ковальский"), plain("Ковальскии\u{306}"));
        assert_eq!(plain("김철수"), "gimcheolsu");
        assert_eq!(plain("김"), plain("\u{1100}\u{1175}\u{11b7}"));
        assert_eq!(plain("张伟"), "zhangwei");
        assert_eq!(plain("राजेश"), "rajes");
        assert_eq!(plain("٣٤"), "34");
    }

    #[test]
    fn vowel_points_are_diacritics() {
        assert_eq!(plain("راشد"), plain("رَاشِد"));
        assert_eq!(plain("כהן"), plain("כֹּהֵן"));
    }

    #[test]
    fn diaeresis_counts_on_latin_letters_only_and_once() {
        assert_eq!(plain("Mu\u{308}ller"), "mueller");
        assert_eq!(plain("Mu\u{323}\u{308}\u{308}ller"), "mueller");
        assert_eq!(plain("ǖ"), "ue");
        assert_eq!(plain("ẅ"), "we");
        assert_eq!(plain("ǿ Ǽ"), "oeae");
        assert_eq!(plain("\u{a8}u x\u{a8}"), "ux");
        assert_eq!(plain("ё"), plain("е\u{308}"));
    }

    #[test]
    fn a_text_of_letters_does_not_vanish() {
        assert_eq!(plain("ع"), "u639");
        assert_eq!(plain("ʿع!"), "u639");
        assert_eq!(plain("عa"), "a");
        assert_eq!(plain("\u{294}"), "u294");
        assert_eq!(plain("\u{241}\u{301}"), "u241");
        assert_eq!(plain("Юрьев"), "yurev");
        let c = ('\u{13000}'..='\u{2ffff}')
            .find(|&c| is_letter_or_digit(c) && any_ascii::any_ascii_char(c).is_empty())
            .unwrap();
        assert_eq!(plain(&format!("a{c}")), format!("au{:x}", c as u32));
    }

    #[test]
    fn gaps() {
        assert_eq!(filled(" Erika \t Mustermann. "), "erika_mustermann");
        assert_eq!(filled("O'Brien"), "o_brien");
        assert_eq!(filled("_a__b_"), "a_b");
        assert_eq!(filled("a👩\u{200d}👧b"), "a_b");
        assert_eq!(filled("ab\u{ad}c\u{200e}d"), "abcd");
        assert_eq!(filled("¾ ½"), "3_4_1_2");
        assert_eq!(plain("\0\u{1}\u{7f}\u{85}"), "");
    }

    #[test]
    fn rule_set_2_leaves_an_e_where_there_is_an_umlaut() {
        let by =
            |number, s: &str| normalize_by(s, Rules::of(number).unwrap(), false, || ()).unwrap();
        for (text, first, second) in [
            ("Zoë", "zoee", "zoe"),
            ("Noe\u{308}l Anaïs", "noeelanaies", "noelanais"),
            (
                "MÜLLER Göker Träger",
                "muellergoekertraeger",
                "muellergoekertraeger",
            ),
            ("Mu\u{308}ller ǖ ǟ", "muellerueae", "muellerueae"),
            ("ÿ ẅ ḧ", "yewehe", "ywh"),
            ("Straße Łódź", "strasselodz", "strasselodz"),
        ] {
            assert_eq!(
                (by(1, text), by(2, text)),
                (first.into(), second.into()),
                "{text}"
            );
        }
        assert!(Rules::of(0).is_err() && Rules::of(i64::from(Rules::NEWEST.number()) + 1).is_err());
    }

    #[test]
    fn the_fast_table_is_the_general_path() {
        for (rules, code) in
            Rules::all().flat_map(|rules| (0..0x300).map(move |code| (rules, code)))
        {
            let c = char::from_u32(code).unwrap();
            let mut general = Vec::new();
            let ticker = &mut Ticker::new(|| ());
            let mut path = General::new(rules);
            path.run(&c.to_string(), &mut |p| general.push(p), ticker);
            let mut fast = Vec::new();
            let silent = scan_unicode(&c.to_string(), rules, &mut |p| fast.push(p), ticker);
            assert_eq!(silent, path.silent, "{c:?}");
            assert_eq!(fast, general, "{c:?}");
        }
    }
}
