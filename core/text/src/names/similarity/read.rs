//! What is compared of a name: its words without legal forms, titles and particles, its numbers, its generation.

use std::borrow::Cow;

use super::known::{is_legal_form, known, Generation, Kind, Known};
use super::spelling::{alike, word_similarity};
use super::{Rarity, MAX_WORD, MAX_WORDS};
use crate::names::words::normal_words;

/// Words of the longest legal form.
pub(super) const MAX_FORM: usize = 8;

/// From which similarity on words that are written in one are the same as one word, and the difference in symbols from
/// which on nobody looks.
const WRITTEN_IN_ONE: f64 = 0.85;
const IN_ONE_APART: usize = 3;

/// Symbols of the longest word that is looked for in several ones. The work grows with its second power.
const MAX_IN_ONE: usize = 32;

/// Letters of a word that may be initials, and of the longest acronym.
const INITIALS: std::ops::RangeInclusive<usize> = 2..=3;
const MAX_ACRONYM: usize = 6;

/// A word of a name in normal form.
#[derive(Clone)]
pub(in crate::names) struct Word {
    pub(super) symbols: Vec<u8>,
    pub(super) known: Known,
    pub(super) rarity: f64,
}

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        self.symbols == other.symbols
    }
}

impl Eq for Word {}

impl PartialOrd for Word {
    fn partial_cmp(&self, other: &Word) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Word {
    fn cmp(&self, other: &Word) -> std::cmp::Ordering {
        self.symbols.cmp(&other.symbols)
    }
}

impl Word {
    fn new(symbols: Vec<u8>, rarity: &Rarity) -> Word {
        let rarity = rarity.of(&symbols);
        Word::with_rarity(symbols, rarity)
    }

    fn with_rarity(symbols: Vec<u8>, rarity: f64) -> Word {
        let known = known(&symbols);
        Word {
            symbols,
            known,
            rarity,
        }
    }

    /// How much it counts: by its length, and less if companies share it.
    pub(super) fn weight(&self) -> f64 {
        let length = match self.symbols.len() {
            1 => 0.3,
            n => 0.4 + 0.6 * n.min(8) as f64 / 8.0,
        };
        let shared = if self.known.is_business() { 0.7 } else { 1.0 };
        length * shared * self.rarity
    }

    /// Whether both may be forms of one given name.
    pub(super) fn is_form_of(&self, other: &Word) -> bool {
        let has = |word: &Word, name: &[u8]| {
            word.symbols == name || word.known.full.iter().any(|full| full.as_bytes() == name)
        };
        let of = |a: &Word, b: &Word| a.known.full.iter().any(|full| has(b, full.as_bytes()));
        of(self, other) || of(other, self)
    }
}

/// Words of a name as they are, and those that are made of them.
pub(super) type Words<'a> = Vec<Cow<'a, Word>>;

/// What is compared of a name.
pub(in crate::names) struct Name {
    /// All words, those that are not compared as well, with a blank behind each.
    pub(super) all: Vec<u8>,
    /// How many they are.
    pub(super) n: usize,
    pub(super) words: Vec<Word>,
    /// Ascending.
    pub(super) numbers: Vec<u64>,
    pub(super) generation: Option<Generation>,
}

/// The words of a text in normal form. Arabic alif and the long vowel of Kana, which the normal form writes by their
/// code points, are an a and nothing here.
pub(super) fn normal(text: &str, most: usize, tick: impl FnMut()) -> Vec<Vec<u8>> {
    let mut words = normal_words(text, most, MAX_WORD, tick);
    // A vessel is called U627.
    if !text.is_ascii() {
        for word in &mut words {
            replace(word, b"u627", b"a");
            replace(word, b"u30fc", b"");
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn replace(word: &mut Vec<u8>, what: &[u8], by: &[u8]) {
    let mut at = 0;
    while let Some(found) = word[at..].windows(what.len()).position(|w| w == what) {
        at += found;
        word.splice(at..at + what.len(), by.iter().copied());
        at += by.len();
    }
}

impl Name {
    pub fn new(text: &str, rarity: &Rarity, tick: impl FnMut()) -> Name {
        let all = normal(text, MAX_WORDS, tick).into_iter();
        let mut rest: Vec<Word> = all.map(|word| Word::new(word, rarity)).collect();
        let mut name = Name {
            all: Vec::with_capacity(rest.iter().map(|word| word.symbols.len() + 1).sum()),
            n: rest.len(),
            words: Vec::with_capacity(rest.len()),
            numbers: Vec::new(),
            generation: None,
        };
        for word in &rest {
            name.all.extend_from_slice(&word.symbols);
            name.all.push(b' ');
        }
        take_forms(&mut rest);
        rest.drain(..vessel(&rest));
        let mut light = Vec::new();
        let n = rest.len();
        let mut rest = rest.into_iter().enumerate().peekable();
        while let Some((i, word)) = rest.next() {
            let last = i + 1 == n;
            match word.known.kind {
                _ if word.symbols.iter().all(u8::is_ascii_digit) => {
                    name.numbers.push(number(&word.symbols));
                }
                Kind::First => name.numbers.push(1),
                Kind::Number(number) if i > 0 && (last || word.symbols.len() > 1) => {
                    name.numbers.push(number);
                }
                Kind::Generation(generation) if i > 0 => name.generation = Some(generation),
                Kind::Light if n > 1 => light.push(word),
                Kind::Link if i > 1 && !last => light.push(word),
                // Abd al-Rahman is Abdul Rahman.
                _ if word.symbols == b"abd"
                    && rest
                        .next_if(|(_, next)| is_article(&next.symbols))
                        .is_some() =>
                {
                    name.words
                        .push(Word::with_rarity(b"abdul".to_vec(), word.rarity));
                }
                _ => name.words.push(word),
            }
        }
        if name.words.is_empty() && name.numbers.is_empty() {
            name.words = light;
        }
        name.numbers.sort_unstable();
        name
    }

    /// Whether all words are the same but for the gaps between them.
    pub(super) fn is_written_as(&self, other: &Name) -> bool {
        self.symbols().eq(other.symbols())
    }

    fn symbols(&self) -> impl Iterator<Item = &u8> {
        self.all.iter().filter(|&&symbol| symbol != b' ')
    }

    /// Whether its only word, besides those that companies share, is made of the other's initials.
    pub(super) fn is_acronym_of(&self, other: &Name) -> bool {
        let mut own = self.words.iter().filter(|word| !word.known.is_business());
        let (Some(word), None) = (own.next(), own.next()) else {
            return false;
        };
        let acronym = &word.symbols[..];
        if !(2..=MAX_ACRONYM).contains(&acronym.len()) || other.words.len() < 2 {
            return false;
        }
        let exact = acronym.len() == 2;
        if exact && other.words.len() != 2 {
            return false;
        }
        let is_of = |initials: &mut dyn Iterator<Item = u8>| {
            acronym
                .iter()
                .all(|&letter| initials.next() == Some(letter))
                && !(exact && initials.next().is_some())
        };
        is_of(&mut other.words.iter().map(|word| word.symbols[0]))
            || is_of(
                &mut other
                    .all
                    .split_inclusive(|&symbol| symbol == b' ')
                    .map(|word| word[0]),
            )
    }
}

fn is_article(word: &[u8]) -> bool {
    matches!(word, b"al" | b"el" | b"ul" | b"ar" | b"as" | b"ur" | b"er")
}

/// A number of digits; of one that is too long the last ones.
fn number(digits: &[u8]) -> u64 {
    let last = &digits[digits.len().saturating_sub(18)..];
    last.iter()
        .fold(0, |n, digit| n * 10 + u64::from(digit - b'0'))
}

/// How many words in front say that it is a vessel: M/V, M.T., S.S. Those in one word are light.
fn vessel(words: &[Word]) -> usize {
    let [a, b, _, ..] = words else {
        return 0;
    };
    let is = matches!(
        (&a.symbols[..], &b.symbols[..]),
        (b"m", b"v" | b"t" | b"s") | (b"s", b"s")
    );
    if is {
        2
    } else {
        0
    }
}

/// Takes the words out that are in a legal form, unless they all are.
fn take_forms(words: &mut Vec<Word>) {
    let mut keep = [true; MAX_WORDS];
    let mut i = 0;
    while i < words.len() {
        let many = legal_form(words, i);
        keep[i..i + many].fill(false);
        i += many.max(1);
    }
    if keep[..words.len()].contains(&true) {
        let mut keep = keep.into_iter();
        words.retain(|_| keep.next().is_some_and(|keep| keep));
    }
}

/// Words of the longest legal form that begins there, as long as it is not the whole name; 0 if none does. Single
/// letters in a run are one word: G. m. b. H.
fn legal_form(words: &[Word], at: usize) -> usize {
    let is_letter = |i: usize| words.get(i).is_some_and(|word| word.symbols.len() == 1);
    let rest = &words[at..];
    // A run of letters is one word from its first to its last one: J. S. A. Smith is no S. A.
    if at > 0 && is_letter(at) && is_letter(at - 1) {
        return 0;
    }
    let longest = if rest[0].symbols.len() == 1 {
        MAX_FORM
    } else {
        // A form of n words may have more with single letters in it: sp z o o.
        match rest[0].known.form {
            0 => return 0,
            1 => 1,
            _ => MAX_FORM,
        }
    };
    let mut key = Vec::new();
    for many in (1..=longest.min(rest.len())).rev() {
        let end = at + many;
        if many == words.len() || is_letter(end - 1) && is_letter(end) {
            continue;
        }
        key.clear();
        for (i, word) in rest[..many].iter().enumerate() {
            if i > 0 && (word.symbols.len() > 1 || rest[i - 1].symbols.len() > 1) {
                key.push(b' ');
            }
            key.extend_from_slice(&word.symbols);
        }
        if is_legal_form(&key, at == 0) {
            return many;
        }
    }
    0
}

/// Takes words of `a` that `b` writes in one for one word, and letters that are the initials of words of `b` for
/// initials.
pub(super) fn join(a: &mut Words<'_>, b: &[Cow<'_, Word>], mut tick: impl FnMut()) {
    split_initials(a, b);
    while let Some((at, many, word)) = in_one(a, b, &mut tick) {
        a.splice(at..at + many, [Cow::Owned(word)]);
    }
}

/// JR beside John Robert.
fn split_initials(a: &mut Words<'_>, b: &[Cow<'_, Word>]) {
    if a.len() < 2 || b.iter().any(|word| word.symbols.len() == 1) {
        return;
    }
    let are_initials = |word: &Word| {
        let letters = &word.symbols[..];
        INITIALS.contains(&letters.len())
            && b.windows(letters.len()).any(|words| {
                words
                    .iter()
                    .zip(letters)
                    .all(|(word, &letter)| word.symbols[0] == letter)
            })
            && !b.iter().any(|other| alike(letters, &other.symbols) >= 0.7)
    };
    if let Some(at) = a.iter().position(|word| are_initials(word)) {
        let word = a[at].clone();
        let letters = word.symbols.iter();
        let rarity = word.rarity;
        let letters = letters.map(|&l| Cow::Owned(Word::with_rarity(vec![l], rarity)));
        a.splice(at..at + 1, letters);
    }
}

/// The first words of `a`, three or two, which are one word in `b`: where they are, how many, and the word.
fn in_one(
    a: &[Cow<'_, Word>],
    b: &[Cow<'_, Word>],
    mut tick: impl FnMut(),
) -> Option<(usize, usize, Word)> {
    for many in [3, 2] {
        for (at, words) in a.windows(many).enumerate() {
            let length: usize = words.iter().map(|word| word.symbols.len()).sum();
            if !(3..=MAX_IN_ONE).contains(&length) {
                continue;
            }
            tick();
            let mut near = b.iter().filter(|word| {
                let (first, last) = (&words[0].symbols, &words[many - 1].symbols);
                word.symbols.len() > 1
                    && word.symbols.len().abs_diff(length) <= IN_ONE_APART
                    && (word.symbols[0] == first[0] || word.symbols.last() == last.last())
            });
            let Some(first) = near.next() else {
                continue;
            };
            let one: Vec<u8> = words
                .iter()
                .flat_map(|word| &word.symbols)
                .copied()
                .collect();
            let best = std::iter::once(first).chain(near);
            let best = best
                .map(|word| alike(&one, &word.symbols))
                .fold(0.0, f64::max);
            let alone = || {
                let long = words.iter().filter(|word| word.symbols.len() > 1);
                long.flat_map(|word| b.iter().map(|other| word_similarity(word, other)))
                    .fold(0.0, f64::max)
            };
            if best >= WRITTEN_IN_ONE && best > alone() {
                let rarity = words.iter().map(|word| word.rarity).fold(0.0, f64::max);
                return Some((at, many, Word::with_rarity(one, rarity)));
            }
        }
    }
    None
}
