//! How similar two names are: word by word, in any order, by what screening of names knows of their words.

mod known;
mod read;
mod spelling;

use std::borrow::Cow;

use base::range::of_percent;
use base::{Error, Result};
use pathfinding::kuhn_munkres::kuhn_munkres;
use pathfinding::matrix::Matrix;

pub(super) use read::Name;
use read::Words;

/// The newest version of the rules. What a version gives never changes, since it may stand in indexes: other rules make
/// a new number, and the old one stays.
pub const SIMILARITY_VERSION: i64 = 1;

/// Words of a name that are compared; the work grows with the third power of their number.
pub const MAX_WORDS: usize = 32;

/// Symbols of a word that are compared; the work grows with the second power of their number.
pub const MAX_WORD: usize = 64;

/// How many words with a weight can be named.
pub const MAX_RARITY: usize = 10_000;

/// The least weight of a word. With weights near 0 the sums of them are 0, and nothing is a share of that.
const LEAST_WEIGHT: f64 = 1e-6;

// What counts how much. Chosen on half of the pairs of tests/quality/names.py and of others of many kinds; the other
// half says how good it is, in docs/names.md.

/// Similarities of words up to this are as good as none, for their mean and for the worst of them.
const MEAN_FROM: f64 = 0.4;
const WORST_FROM: f64 = 0.5;
/// The share of the mean; the rest is the worst.
const MEAN: f64 = 0.3;
/// What is lost if all words of the longer name are left over.
const LEFT_OVER: f64 = 0.2;
/// What is lost where both have numbers, or generations, and they differ, and where only one has any.
const OTHER_NUMBER: f64 = 0.6;
const NO_NUMBER: f64 = 0.2;
/// What a name and its acronym have at least.
const ACRONYM: f64 = 0.85;

/// How much similarities that are as good as none still count for the assignment, and how much of that is for words
/// that have nothing in common, so that those of the greatest weight are assigned.
const BETWEEN_BAD: f64 = 0.001;
const BETWEEN_EQUAL: f64 = 0.01;

/// Weights are integers for the assignment, so that the same one is best on every machine.
const UNIT: f64 = 1e9;

/// What is known of the rarity of words: a word that is everywhere says little, whether it is the same or not.
#[derive(Default)]
pub struct Rarity {
    /// Ascending.
    words: Vec<(Vec<u8>, f64)>,
}

impl Rarity {
    /// Nothing: all words weigh what the rules say.
    pub const NONE: Rarity = Rarity { words: Vec::new() };

    /// A word, of which the first in normal form counts, and its weight from 0.000001 to 1. Of several weights of a word
    /// the least counts.
    ///
    /// Errors: a weight out of range; too many words.
    pub fn add(&mut self, word: &str, weight: f64, tick: impl FnMut()) -> Result<()> {
        if !(LEAST_WEIGHT..=1.0).contains(&weight) {
            let shown = format!("{weight:?}");
            let shown = shown.trim_end_matches(".0");
            return Err(
                Error::invalid(format!("weight {shown} of a word is out of range"))
                    .detail("A weight is from 0.000001 to 1.")
                    .hint(of_percent(weight).unwrap_or_default()),
            );
        }
        if self.words.len() >= MAX_RARITY {
            return Err(
                Error::invalid(format!("more than {MAX_RARITY} words have a weight"))
                    .detail("Words without one weigh 1, so name those that are frequent."),
            );
        }
        if let Some(word) = read::normal(word, 1, tick).pop() {
            self.words.push((word, weight));
        }
        Ok(())
    }

    /// To be called once all words are added.
    #[must_use]
    pub fn sorted(mut self) -> Rarity {
        self.words
            .sort_unstable_by(|(v, a), (w, b)| v.cmp(w).then(a.total_cmp(b)));
        self.words.dedup_by(|(v, _), (w, _)| v == w);
        self
    }

    fn of(&self, word: &[u8]) -> f64 {
        let found = self
            .words
            .binary_search_by(|(known, _)| known.as_slice().cmp(word));
        found.map_or(1.0, |at| self.words[at].1)
    }
}

/// About how many names have a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Share {
    Few,
    /// Words of business.
    Many,
    /// Legal forms, titles, particles.
    Most,
}

pub(super) fn share_of_names(word: &[u8]) -> Share {
    let known = known::known(word);
    if known.kind == known::Kind::Light || known::is_legal_form(word, false) {
        Share::Most
    } else if known.is_business() {
        Share::Many
    } else {
        Share::Few
    }
}

/// Errors: there are no rules of this version.
pub fn check_version(version: i64) -> Result<()> {
    if version == SIMILARITY_VERSION {
        return Ok(());
    }
    let message = format!("version {version} of the similarity of names is unknown");
    Err(Error::invalid(message).detail(format!(
        "This version of bloom_ident knows version {SIMILARITY_VERSION}."
    )))
}

/// Similarity of two names, from 0 to 1, whatever the order of their words.
///
/// Each word of the name with fewer words goes to one word of the other, no two to the same, so that the sum of their
/// similarities, each weighted by both words, is the greatest. Three tenths are the mean of these, and seven the worst
/// of them. Words that are left over cost little: a middle name may be missing. Legal forms, titles and particles are
/// not compared; numbers and generations are, and cost much where they differ. A name of which the other one's initials
/// are made has [`ACRONYM`] at least.
///
/// It is 0 if a name has no letters and digits, and it is the same whichever name is named first. Only the first
/// [`MAX_WORDS`] words of a name, and the first [`MAX_WORD`] symbols of a word, are compared.
pub fn similarity(a: &str, b: &str, rarity: &Rarity, mut tick: impl FnMut()) -> f64 {
    let a = Name::new(a, rarity, &mut tick);
    let b = Name::new(b, rarity, &mut tick);
    a.similarity(&b, tick)
}

impl Name {
    /// As [`similarity`].
    pub fn similarity(&self, other: &Name, tick: impl FnMut()) -> f64 {
        if self.all.is_empty() || other.all.is_empty() {
            return 0.0;
        }
        // One order of both, whichever is named first.
        let (a, b) = if (self.n, &self.all) <= (other.n, &other.all) {
            (self, other)
        } else {
            (other, self)
        };
        let words = match (a.words.is_empty(), b.words.is_empty()) {
            // other gaps: SIEMENSAG
            _ if a.numbers == b.numbers && a.is_written_as(b) => 1.0,
            // numbers alone
            (true, true) => f64::from(a.numbers == b.numbers),
            (false, false) => by_word(a, b, tick),
            _ => 0.0,
        };
        let acronym = a.is_acronym_of(b) || b.is_acronym_of(a);
        let words = if acronym { words.max(ACRONYM) } else { words };
        words * in_number(a, b) * in_generation(a, b)
    }
}

/// What is left by the numbers of two names.
fn in_number(a: &Name, b: &Name) -> f64 {
    if a.numbers == b.numbers || generation_differs(a, b) {
        1.0
    } else if a.numbers.is_empty() || b.numbers.is_empty() {
        1.0 - NO_NUMBER
    } else {
        1.0 - OTHER_NUMBER
    }
}

/// Whether one is a junior and the other a senior, or one of these and the other a third.
fn generation_differs(a: &Name, b: &Name) -> bool {
    match (a.generation, b.generation) {
        (Some(x), Some(y)) => x != y,
        (Some(_), None) => !b.numbers.is_empty(),
        (None, Some(_)) => !a.numbers.is_empty(),
        (None, None) => false,
    }
}

/// What is left by the generations of two persons.
fn in_generation(a: &Name, b: &Name) -> f64 {
    if generation_differs(a, b) {
        1.0 - OTHER_NUMBER
    } else if a.generation == b.generation {
        1.0
    } else {
        1.0 - NO_NUMBER
    }
}

/// Both have words.
fn by_word(a: &Name, b: &Name, mut tick: impl FnMut()) -> f64 {
    let mut x: Words<'_> = a.words.iter().map(Cow::Borrowed).collect();
    let mut y: Words<'_> = b.words.iter().map(Cow::Borrowed).collect();
    read::join(&mut x, &y, &mut tick);
    read::join(&mut y, &x, &mut tick);
    x.sort_unstable();
    y.sort_unstable();
    let (few, many) = if (x.len(), &x) <= (y.len(), &y) {
        (x, y)
    } else {
        (y, x)
    };
    let mut alike: Vec<Vec<f64>> = Vec::with_capacity(few.len());
    for a in &few {
        tick();
        alike.push(
            many.iter()
                .map(|b| spelling::word_similarity(a, b))
                .collect(),
        );
    }
    let good = |i: usize, j: usize| above(alike[i][j], MEAN_FROM);
    let weight = |i: usize, j: usize| few[i].weight() + many[j].weight();
    let assigned = assign(few.len(), many.len(), |i, j| {
        (good(i, j) + BETWEEN_BAD * (alike[i][j] + BETWEEN_EQUAL)) * weight(i, j)
    });
    let (mut sum, mut of_all, mut worst) = (0.0, 0.0, 1.0_f64);
    let mut left: f64 = many.iter().map(|word| word.weight()).sum();
    let all = left;
    for (i, &j) in assigned.iter().enumerate() {
        sum += good(i, j) * weight(i, j);
        of_all += weight(i, j);
        left -= many[j].weight();
        let counts = few[i].rarity.max(many[j].rarity);
        worst = worst.min(1.0 - counts * (1.0 - alike[i][j]));
    }
    let left = if few.len() < many.len() {
        (left / all).max(0.0)
    } else {
        0.0
    };
    let words = MEAN * sum / of_all + (1.0 - MEAN) * above(worst, WORST_FROM);
    words.clamp(0.0, 1.0) * (1.0 - LEFT_OVER * left)
}

/// What of a similarity is above a limit, from 0 to 1.
fn above(similarity: f64, limit: f64) -> f64 {
    ((similarity - limit) / (1.0 - limit)).max(0.0)
}

/// For each of few the one of many that it goes to, no two to the same, so that the sum of the weights is the greatest.
fn assign(few: usize, many: usize, weight: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let fixed = |i, j| (weight(i, j) * UNIT).round() as i64;
    // Where the best ones of all are different, nothing is better.
    let mut taken = [false; MAX_WORDS];
    let best = (0..few).map(|i| {
        let j = (0..many).max_by_key(|&j| (fixed(i, j), std::cmp::Reverse(j)))?;
        (!std::mem::replace(&mut taken[j], true)).then_some(j)
    });
    if let Some(best) = best.collect::<Option<Vec<usize>>>() {
        return best;
    }
    let rows = (0..few).map(|i| (0..many).map(move |j| (i, j)));
    let weights = Matrix::from_rows(rows.map(|row| row.map(|(i, j)| fixed(i, j))));
    kuhn_munkres(&weights.expect("rows are of one length")).1
}
