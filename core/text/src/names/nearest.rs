//! Which of many names are nearest to one, out of candidates that an index has found.

use std::cmp::Reverse;

use base::{Error, Result};

use super::similarity::{share_of_names, Name, Rarity, Share, MAX_WORD, MAX_WORDS};
use super::words::normal_words;
use crate::ngram::ngram_set;
use crate::tokens::Overlap;
use crate::Rules;

/// Symbols of the n-grams of words. Names are short, and longer n-grams lose too many to a single error.
const BIGRAM: u8 = 2;

/// How many names can be asked for.
pub const MAX_NEAREST: i64 = 1000;

/// The least number of candidates, and how many there are for each name that is asked for.
const CANDIDATES: (i64, i64) = (50, 5);

/// Of the candidates as far as the last of them, how many there are at most beyond their number. A short name, or one
/// that nothing is like, is equally far from very many.
pub const MAX_TIES: i64 = 1000;

/// How many candidates are compared where `k` names are asked for.
///
/// Errors: `k` is not from 1 to [`MAX_NEAREST`].
pub fn candidates(k: i64) -> Result<i64> {
    let (least, each) = CANDIDATES;
    if (1..=MAX_NEAREST).contains(&k) {
        return Ok(least.max(each * k));
    }
    let message = format!("number of names k = {k} is out of range");
    Err(Error::invalid(message).detail(format!("k goes from 1 to {MAX_NEAREST}.")))
}

/// A word that more names have is left out. Their number bounds what is compared.
pub const MAX_OF_WORD: usize = 300;

/// Words that are looked for, and the symbols of the shortest of them.
const WORDS: usize = 3;
const SHORTEST: usize = 4;

/// Letters of an acronym.
const ACRONYM: std::ops::RangeInclusive<usize> = 3..=6;

/// A name whose nearest are looked for. It is worked out once, however many names it is compared with.
pub struct WantedName {
    name: Name,
    /// Those of its words, each by itself.
    bigrams: Vec<u64>,
    words: Vec<String>,
}

impl WantedName {
    /// Errors: out of memory.
    pub fn new(name: &str, mut tick: impl FnMut()) -> Result<WantedName> {
        Ok(WantedName {
            bigrams: ngram_set(name, Rules::FIRST, BIGRAM, true, &mut tick)?,
            words: words_to_find(name, &mut tick),
            name: Name::new(name, &Rarity::NONE, tick),
        })
    }

    /// Words of which each is worth a search, those first that are the rarest as a rule, which are long and no words of
    /// business. Legal forms, titles and particles are none. Behind them come the initials, if it has three words and more.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// How near another name is, from 0 to 1: half of it is [`similarity`](super::similarity), and half is the mean of
    /// Jaccard similarity and overlap of the bigrams of the words. The first has the better order, and is 1 for many
    /// names of which one is a part of the other; these the second tells apart.
    ///
    /// Errors: out of memory.
    pub fn nearness(&self, name: &str, mut tick: impl FnMut()) -> Result<f64> {
        let bigrams = ngram_set(name, Rules::FIRST, BIGRAM, true, &mut tick)?;
        let other = Name::new(name, &Rarity::NONE, &mut tick);
        let whole = self.name.similarity(&other, tick);
        let jaccard = Overlap::of_hashes(&self.bigrams, &bigrams, || ()).jaccard();
        let overlap = overlap(&self.bigrams, &bigrams);
        Ok((whole + (jaccard + overlap) / 2.0) / 2.0)
    }
}

/// What two ascending sets have in common, as a share of the smaller one; 0 if one is empty.
fn overlap(a: &[u64], b: &[u64]) -> f64 {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    Overlap::of_hashes(few, many, || ()).containment()
}

fn words_to_find(name: &str, tick: impl FnMut()) -> Vec<String> {
    let mut words = normal_words(name, MAX_WORDS, MAX_WORD, tick);
    words.retain(|word| share_of_names(word) != Share::Most);
    let initials: Vec<u8> = words.iter().map(|word| word[0]).collect();
    words.retain(|word| word.len() >= SHORTEST);
    words.sort_by_cached_key(|word| (share_of_names(word), Reverse(word.len()), word.clone()));
    words.dedup();
    words.truncate(WORDS);
    if ACRONYM.contains(&initials.len()) && !words.contains(&initials) {
        words.push(initials);
    }
    let ascii = |word| String::from_utf8(word).expect("normal forms are ASCII");
    words.into_iter().map(ascii).collect()
}
