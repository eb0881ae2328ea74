//! How similar two names are, word by word and as a whole.

use base::{Error, Result};
use pathfinding::kuhn_munkres::kuhn_munkres;
use pathfinding::matrix::Matrix;
use rapidfuzz::distance::jaro_winkler;

use super::words::normal_words;
use crate::ngram::ngram_set;
use crate::tokens::Overlap;

/// Words of a name that are assigned to each other; the work grows with the third power of their number.
pub const MAX_WORDS: usize = 32;

/// Symbols of a word that are compared; the work grows with the second power of their number.
pub const MAX_WORD: usize = 64;

/// Symbols of the n-grams of the whole. Names are short, and longer n-grams lose too many to a single error.
const BIGRAM: u8 = 2;

/// Weights of an assignment are integers, so that the same assignment is best on every machine: similarities times
/// symbols in these units.
const UNIT: f64 = 1e9;

/// A unit of a weight in turn, more than the symbols of all words: of assignments that are equally good the one with
/// fewer symbols is taken.
const FINE: i64 = (2 * MAX_WORDS * MAX_WORD).next_power_of_two() as i64;

/// Similarity of two names, from 0 to 1: half of it word by word, whatever the order of the words, and half of it of
/// the whole, whatever the gaps between them.
///
/// Word by word: each word of the name with fewer words goes to one word of the other, no two to the same, so that the
/// sum of their Jaro-Winkler similarities is the greatest, each weighted by the symbols of both; of several such
/// assignments the one with the fewest symbols counts. The half is the weighted mean. Words that are left over cost
/// nothing here: a middle name or a legal form may be missing.
///
/// As a whole: the share of the bigrams of one text, without its gaps, that the other has too, by the one with fewer
/// bigrams.
///
/// It is 0 if a name has no letters and digits, and it is the same whichever name is named first. Only the first
/// [`MAX_WORDS`] words of a name, and the first [`MAX_WORD`] symbols of a word, are compared word by word.
///
/// Errors: out of memory.
pub fn similarity(a: &str, b: &str, mut tick: impl FnMut()) -> Result<f64> {
    let a = NormalName::new(a, &mut tick)?;
    let b = NormalName::new(b, &mut tick)?;
    Ok(a.similarity(&b))
}

/// What is compared of a name.
struct NormalName {
    /// Those of the whole, ascending.
    bigrams: Vec<u64>,
    /// In ascending order.
    words: Vec<Vec<u8>>,
}

impl NormalName {
    /// Errors: out of memory.
    fn new(name: &str, mut tick: impl FnMut()) -> Result<NormalName> {
        let bigrams = ngram_set(name, BIGRAM, false, &mut tick)?;
        let mut words = normal_words(name, MAX_WORDS, MAX_WORD, tick);
        words.sort_unstable();
        Ok(NormalName { bigrams, words })
    }

    /// As [`similarity`].
    fn similarity(&self, other: &NormalName) -> f64 {
        let whole = overlap(&self.bigrams, &other.bigrams);
        let (a, b) = (&self.words, &other.words);
        // One order of both, whichever is named first: of two equally good assignments the same one is found.
        let (few, many) = if (a.len(), a) <= (b.len(), b) {
            (a, b)
        } else {
            (b, a)
        };
        if few.is_empty() {
            0.0
        } else {
            (by_word(few, many) + whole) / 2.0
        }
    }
}

/// The weighted mean similarity of the words of `few`, which is not empty, and those that they are assigned to.
fn by_word(few: &[Vec<u8>], many: &[Vec<u8>]) -> f64 {
    let symbols = |a: &[u8], b: &[u8]| (a.len() + b.len()) as i64;
    let weights = Matrix::from_rows(few.iter().map(|a| {
        many.iter().map(|b| {
            let alike = jaro_winkler::similarity(a.iter(), b.iter());
            let weight = alike * symbols(a, b) as f64 * UNIT;
            weight.round() as i64 * FINE - symbols(a, b)
        })
    }));
    let (sum, assigned) = kuhn_munkres(&weights.expect("rows are of one length"));
    let pairs = few.iter().zip(assigned);
    let of_all: i64 = pairs.map(|(a, b)| symbols(a, &many[b])).sum();
    let sum = (sum + of_all) / FINE;
    (sum as f64 / UNIT / of_all as f64).min(1.0)
}

/// What two ascending sets have in common, as a share of the smaller one; 0 if one is empty.
fn overlap(a: &[u64], b: &[u64]) -> f64 {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    Overlap::of_hashes(few, many, || ()).containment()
}

// Names that are nearest to a name, out of candidates that an index has found.

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

/// A name whose nearest are looked for. It is worked out once, however many names it is compared with.
pub struct WantedName {
    name: NormalName,
    /// Those of its words, each by itself.
    bigrams: Vec<u64>,
}

impl WantedName {
    /// Errors: out of memory.
    pub fn new(name: &str, mut tick: impl FnMut()) -> Result<WantedName> {
        Ok(WantedName {
            bigrams: ngram_set(name, BIGRAM, true, &mut tick)?,
            name: NormalName::new(name, tick)?,
        })
    }

    /// How near another name is, from 0 to 1: half of it is [`similarity`](super::similarity), and half is the mean of
    /// Jaccard similarity and overlap of the bigrams of the words. The first has the better order, and is 1 for many
    /// names of which one is a part of the other; these the second tells apart.
    ///
    /// Errors: out of memory.
    pub fn nearness(&self, name: &str, mut tick: impl FnMut()) -> Result<f64> {
        let bigrams = ngram_set(name, BIGRAM, true, &mut tick)?;
        let whole = self.name.similarity(&NormalName::new(name, tick)?);
        let jaccard = Overlap::of_hashes(&self.bigrams, &bigrams, || ()).jaccard();
        let overlap = overlap(&self.bigrams, &bigrams);
        Ok((whole + (jaccard + overlap) / 2.0) / 2.0)
    }
}
