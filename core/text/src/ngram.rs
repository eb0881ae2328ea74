//! n-grams of normalised text and their indices.
//!
//! An n-gram has `ngram` symbols, from 2 to 8; q stands for that number in formulas. A run of c symbols
//! is padded with q−1 `_` on both sides and gives c+q−1 n-grams. The index of an n-gram a₀a₁… reads it as
//! a number in bijective base 37: Σ (ord(aⱼ)+1)·37^(q−1−j).

use std::cell::RefCell;

use crate::tokens::Overlap;
use crate::{scan, Rules, Symbol, ALPHABET};
use base::sort::sort_distinct;
use base::Ticker;
use base::{Error, Result};

/// Symbols of an n-gram.
pub const LENGTHS: std::ops::RangeInclusive<u32> = 2..=8;

const BASE: u64 = ALPHABET.len() as u64;

/// The number of symbols of an n-gram, checked.
///
/// Errors: it is outside of [`LENGTHS`].
pub fn check_length(ngram: i64) -> Result<u8> {
    u32::try_from(ngram)
        .ok()
        .filter(|ngram| LENGTHS.contains(ngram))
        .map(|ngram| ngram as u8)
        .ok_or_else(|| {
            Error::invalid(format!("n-gram length {ngram} is out of range"))
                .detail("N-gram lengths go from 2 to 8.")
                .hint("If the number was meant for another argument, name that, as in max_chars => 60.")
        })
}

/// Index of one n-gram as it stands, symbol by symbol.
///
/// Errors: an n-gram that has not 1 to 8 symbols, or has a character outside the alphabet.
pub fn index(ngram: &str) -> Result<u64> {
    let length = ngram.chars().count();
    if !(1..=*LENGTHS.end() as usize).contains(&length) {
        return Err(
            Error::invalid(format!("n-gram of {length} symbols is out of range"))
                .detail("N-grams have from 1 to 8 symbols."),
        );
    }
    ngram.chars().try_fold(0, |index, c| {
        let ordinal = ALPHABET.iter().position(|&a| char::from(a) == c);
        match ordinal {
            Some(ordinal) => Ok(index * BASE + ordinal as u64 + 1),
            None => Err(
                Error::invalid(format!("character \"{c}\" is not in the n-gram alphabet"))
                    .detail("The alphabet is _, a to z and 0 to 9.")
                    .hint("Use ident_ngrams() to normalise a text and cut it into n-grams."),
            ),
        }
    })
}

/// The window of the last symbols, as many as an n-gram has, and its index, rolled on symbol by symbol.
#[derive(Clone, Copy)]
pub struct Window {
    /// Ordinals, the newest in the lowest byte.
    symbols: u64,
    index: u64,
    /// Bits to shift `symbols` by to get the oldest.
    oldest: u32,
    /// 37^(q−1)
    top: u64,
    start: u64,
}

impl Window {
    /// A window of `ngram` symbols, in [`LENGTHS`], all of them padding.
    pub fn new(ngram: u8) -> Self {
        let start = (0..ngram).fold(0, |index, _| index * BASE + 1);
        Window {
            symbols: 0,
            index: start,
            oldest: 8 * (u32::from(ngram) - 1),
            top: BASE.pow(u32::from(ngram) - 1),
            start,
        }
    }

    fn reset(&mut self) {
        self.symbols = 0;
        self.index = self.start;
    }

    /// Moves on by one symbol (its ordinal) and gives the index of the new window.
    #[inline]
    pub fn push(&mut self, ordinal: u8) -> u64 {
        let leaving = (self.symbols >> self.oldest) & 0xff;
        self.index = (self.index - (leaving + 1) * self.top) * BASE + u64::from(ordinal) + 1;
        self.symbols = self.symbols << 8 | u64::from(ordinal);
        self.index
    }

    /// Writes the window's symbols as ASCII, one byte each.
    pub fn write(&self, to: &mut [u8]) {
        let positions = (0..=self.oldest / 8).rev();
        for (to, i) in to.iter_mut().zip(positions) {
            *to = ALPHABET[(self.symbols >> (8 * i)) as usize & 0xff];
        }
    }

    /// The window's symbols as text.
    pub fn ngram(&self) -> String {
        let mut ngram = [0; *LENGTHS.end() as usize];
        let ngram = &mut ngram[..=self.oldest as usize / 8];
        self.write(ngram);
        String::from_utf8_lossy(ngram).into_owned()
    }
}

/// What becomes of the gaps between the words of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// Nothing: the words are one run of symbols.
    Closed,
    /// Each ends a run, so that every word is padded by itself. An apostrophe is no such gap.
    Ends,
    /// Each is a `_`, over which n-grams reach, as in the normal form with filler.
    Filled,
}

impl Gaps {
    /// What the SQL functions call it.
    ///
    /// Errors: by_word and filler together.
    pub fn new(by_word: bool, filler: bool) -> Result<Self> {
        match (by_word, filler) {
            (true, true) => Err(Error::invalid("by_word and filler cannot be used together",
            )
            .detail("With by_word no n-gram reaches from one word to the next, so that there is nothing to fill.")),
            (false, true) => Ok(Gaps::Filled),
            (by_word, false) => Ok(by_word.into()),
        }
    }
}

/// Whether it is by word.
impl From<bool> for Gaps {
    fn from(by_word: bool) -> Self {
        if by_word {
            Gaps::Ends
        } else {
            Gaps::Closed
        }
    }
}

/// Calls `each` with every n-gram of `text`, of `ngram` symbols, and its index, in order, repetitions included.
/// `tick` is called now and then.
#[inline]
pub fn for_each_ngram(
    text: &str,
    rules: Rules,
    ngram: u8,
    gaps: impl Into<Gaps>,
    mut each: impl FnMut(&Window, u64),
    tick: impl FnMut(),
) {
    let gaps = gaps.into();
    let mut window = Window::new(ngram);
    let mut open = false;
    let mut gap = false;
    let mut roll = |symbol: Symbol| {
        if let Some(ordinal) = symbol.ordinal() {
            if gap {
                let index = window.push(0);
                each(&window, index);
                gap = false;
            }
            let index = window.push(ordinal);
            each(&window, index);
            open = true;
        } else if open && gaps == Gaps::Filled {
            gap = true;
        } else if open && gaps == Gaps::Ends && symbol == Symbol::SEPARATOR {
            finish(&mut window, ngram, &mut each);
            window.reset();
            open = false;
        }
    };
    scan(text, rules, &mut roll, tick);
    if open {
        finish(&mut window, ngram, &mut each);
    }
}

/// The ordinal of a byte that stands for no symbol of the alphabet.
const NO_ORDINAL: u8 = u8::MAX;

/// The ordinal of every byte in the alphabet.
const ORDINALS: [u8; 256] = {
    let mut ordinals = [NO_ORDINAL; 256];
    let mut i = 0;
    while i < ALPHABET.len() {
        ordinals[ALPHABET[i] as usize] = i as u8;
        i += 1;
    }
    ordinals
};

/// Calls `each` with the index of every n-gram of a text in its normal form, where the `_` between two words is a
/// symbol like any other, so that n-grams reach over it. The whole text is one run.
pub fn for_each_normal_ngram(normal: &str, ngram: u8, mut each: impl FnMut(u64)) {
    let mut window = Window::new(ngram);
    let mut each = |_: &Window, index: u64| each(index);
    for byte in normal.bytes() {
        let ordinal = ORDINALS[usize::from(byte)];
        if ordinal != NO_ORDINAL {
            let index = window.push(ordinal);
            each(&window, index);
        }
    }
    if !normal.is_empty() {
        finish(&mut window, ngram, &mut each);
    }
}

fn finish(window: &mut Window, ngram: u8, each: &mut impl FnMut(&Window, u64)) {
    for _ in 1..ngram {
        let index = window.push(0);
        each(window, index);
    }
}

/// The distinct n-gram indices of `text`, ascending.
///
/// Errors: out of memory.
pub fn ngram_set(
    text: &str,
    rules: Rules,
    ngram: u8,
    gaps: impl Into<Gaps>,
    tick: impl FnMut(),
) -> Result<Vec<u64>> {
    let tick = RefCell::new(tick);
    let turn = || (tick.borrow_mut())();
    let mut set: Vec<u64> = Vec::new();
    let mut refused = None;
    let collect = |_: &Window, index| {
        if set.len() == set.capacity() {
            // repetitions go before memory does
            sort_distinct(&mut set, &mut Ticker::new(turn));
            let more = set.len().max(64);
            if set.try_reserve(more).is_err() {
                refused = Some(more * size_of::<u64>());
                return;
            }
        }
        set.push(index);
    };
    for_each_ngram(text, rules, ngram, gaps, collect, turn);
    turn();
    if let Some(bytes) = refused {
        return Err(Error::out_of_memory(bytes));
    }
    sort_distinct(&mut set, &mut Ticker::new(turn));
    Ok(set)
}

/// Exact Jaccard similarity of two texts' sets of n-grams; 0 when both are empty.
///
/// Errors: out of memory.
pub fn similarity(
    a: &str,
    b: &str,
    ngram: u8,
    gaps: impl Into<Gaps>,
    mut tick: impl FnMut(),
) -> Result<f64> {
    let gaps = gaps.into();
    let a = ngram_set(a, Rules::FIRST, ngram, gaps, &mut tick)?;
    let b = ngram_set(b, Rules::FIRST, ngram, gaps, &mut tick)?;
    Ok(Overlap::of_hashes(&a, &b, tick).jaccard())
}

#[cfg(test)]
mod tests {
    use super::ngram_set;
    use crate::Rules;

    #[test]
    fn any_apostrophe_stands_within_a_word() {
        let ngrams = |s: &str| ngram_set(s, Rules::FIRST, 3, true, || ()).unwrap();
        assert_eq!(ngrams("O\u{1ffd}Brien"), ngrams("O´Brien"));
        assert_eq!(ngrams("O\u{2019}Brien"), ngrams("O'Brien"));
    }
}
