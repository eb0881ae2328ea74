//! How similar two words of names are: the same name in the spelling of another language, with an error, by its
//! initial, by a short form, or in another language.

use std::sync::LazyLock;

use super::read::Word;
use super::{MAX_WORD, MAX_WORDS};

/// Letters from a to z.
const LETTERS: usize = 26;

/// What an edit costs at most, and what a letter costs that stands twice in one spelling only, and two that have changed
/// places.
const WHOLE: u16 = 100;
const DOUBLED: u16 = 20;
const SWAPPED: u16 = 80;

/// An initial and a word that begins with it; two forms of one given name; two words of one meaning; a word that
/// another one begins with, and a long one.
const INITIAL: f64 = 0.88;
const SAME_NAME: f64 = 0.9;
const SAME_MEANING: f64 = 0.95;
const BEGINNING: f64 = 0.72;
const LONG_BEGINNING: f64 = 0.86;
const LONG: usize = 5;
/// The share of the similarity of consonants where one of the two is written without vowels, as Arabic is.
const CONSONANTS: f64 = 0.92;

/// What edits cost. A letter for another one, and a letter more or less.
struct Costs {
    other: [[u8; LETTERS]; LETTERS],
    more: [u8; LETTERS],
}

static COSTS: LazyLock<Costs> = LazyLock::new(|| {
    let mut costs = Costs {
        other: [[0; LETTERS]; LETTERS],
        more: [0; LETTERS],
    };
    let lines = include_str!("letters-1.txt").lines().skip(1);
    for (i, line) in lines.enumerate() {
        let numbers = line.split(' ').map(|n| n.parse().expect("a number"));
        for (j, cost) in numbers.enumerate() {
            if i == 0 {
                costs.more[j] = cost;
            } else {
                costs.other[i][j] = cost;
                costs.other[j][i] = cost;
            }
        }
    }
    costs
});

fn letter(symbol: u8) -> Option<usize> {
    symbol
        .is_ascii_lowercase()
        .then(|| usize::from(symbol - b'a'))
}

impl Costs {
    /// A letter for another one, or a digit for anything else.
    fn other(&self, a: u8, b: u8) -> u16 {
        match (letter(a), letter(b)) {
            _ if a == b => 0,
            (Some(i), Some(j)) => self.other[i][j].into(),
            _ => WHOLE,
        }
    }

    /// What each symbol of a word costs where the other word does not have it.
    fn more(&self, word: &[u8]) -> [u16; MAX_JOINED] {
        let mut costs = [0; MAX_JOINED];
        for (i, &symbol) in word.iter().enumerate() {
            let cost = letter(symbol).map_or(WHOLE, |i| self.more[i].into());
            let is_doubled = i > 0 && word[i - 1] == symbol;
            costs[i] = if is_doubled { cost.min(DOUBLED) } else { cost };
        }
        costs
    }
}

/// Symbols of the longest word that is compared.
const MAX_JOINED: usize = MAX_WORD;
const _: () = assert!(MAX_JOINED >= MAX_WORDS);

/// How alike two spellings are, from 0 to 1: what edits of letters cost, by the mean length. Both have symbols, and at
/// most [`MAX_WORD`].
pub(super) fn alike(a: &[u8], b: &[u8]) -> f64 {
    if a == b {
        return 1.0;
    }
    let costs = &*COSTS;
    let (more_a, more_b) = (costs.more(a), costs.more(b));
    // Three rows: that of the symbol before the last, of the last, and of this one.
    let mut rows = [[0u16; MAX_JOINED + 1]; 3];
    for (j, cost) in more_b[..b.len()].iter().enumerate() {
        rows[1][j + 1] = rows[1][j] + cost;
    }
    for (i, &x) in a.iter().enumerate() {
        let [before, last, row] = &mut rows;
        row[0] = last[0] + more_a[i];
        for (j, &y) in b.iter().enumerate() {
            let mut cost = (last[j] + costs.other(x, y))
                .min(last[j + 1] + more_a[i])
                .min(row[j] + more_b[j]);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                cost = cost.min(before[j - 1] + SWAPPED);
            }
            row[j + 1] = cost;
        }
        rows.rotate_left(1);
    }
    let cost = f64::from(rows[1][b.len()]) / f64::from(WHOLE);
    (1.0 - 2.0 * cost / (a.len() + b.len()) as f64).max(0.0)
}

fn is_vowel(symbol: u8) -> bool {
    matches!(symbol, b'a' | b'e' | b'i' | b'o' | b'u')
}

/// A word without the vowels behind its first symbol.
fn without_vowels(word: &[u8]) -> Vec<u8> {
    let rest = word[1..].iter().filter(|&&symbol| !is_vowel(symbol));
    word[..1].iter().chain(rest).copied().collect()
}

/// How similar two words are, from 0 to 1.
pub(super) fn word_similarity(a: &Word, b: &Word) -> f64 {
    let (x, y) = (&a.symbols[..], &b.symbols[..]);
    if x == y {
        return 1.0;
    }
    if x.len() == 1 || y.len() == 1 {
        return if x[0] == y[0] { INITIAL } else { 0.0 };
    }
    let mut best = alike(x, y);
    if best < SAME_MEANING && a.known.is_of_one_meaning(&b.known) {
        best = SAME_MEANING;
    }
    if best < SAME_NAME && a.is_form_of(b) {
        best = SAME_NAME;
    }
    let (short, long) = if x.len() < y.len() { (x, y) } else { (y, x) };
    if long.len() >= short.len() + 2 && long.starts_with(short) {
        best = best.max(if short.len() < LONG {
            BEGINNING
        } else {
            LONG_BEGINNING
        });
    }
    let has_vowels = |word: &[u8]| word.iter().any(|&symbol| is_vowel(symbol));
    let consonants = match (has_vowels(x), has_vowels(y)) {
        (false, true) => alike(x, &without_vowels(y)),
        (true, false) => alike(&without_vowels(x), y),
        _ => 0.0,
    };
    best.max(CONSONANTS * consonants)
}
