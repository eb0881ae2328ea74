//! How similar at least the signatures of two texts are between whose normal forms lie so many edits, so that a search of
//! signatures loses none of them.
//!
//! An insertion, deletion or replacement destroys at most q neighbouring n-grams of q symbols, and makes at most q others
//! (E. Ukkonen: Approximate string-matching with q-grams and maximal matches, 1992). A bit of the one signature is missing in
//! the other only if all n-grams that set it are destroyed, and a bit comes in only by an n-gram that is made.

use text::ngram::{for_each_ngram, for_each_normal_ngram, Gaps};

use super::Popcounts;
use crate::filter::{Hasher, QueryView, Shape, View};
use base::{memory, Result};

/// Texts of more n-grams have no bound: they fill a signature, and nobody looks for their typing errors.
const MOST_NGRAMS: usize = 10_000;

/// Edits are placed in all ways where there are no more; otherwise what they destroy is estimated, rather too high.
const MOST_CHOICES: usize = 5_000;
const MOST_PLACED: u32 = 3;

/// The least Jaccard similarity of the signatures of a text and of any text at most `edits` edits away from it: 0 if any may
/// be. Both are of this shape, without `by_word` and `filler`.
///
/// Errors: a shape of tokens; out of memory.
pub fn edit_bound(text: &str, edits: u32, shape: Shape, tick: impl FnMut()) -> Result<f64> {
    shape.check_of_ngrams()?;
    let (hasher, mut indices, mut is_long) = (Hasher::new(shape), Vec::new(), false);
    let collect = |_: &_, index| match indices.len() < MOST_NGRAMS {
        true => indices.push(index),
        false => is_long = true,
    };
    for_each_ngram(
        text,
        shape.text_rules()?,
        shape.ngram(),
        Gaps::Closed,
        collect,
        tick,
    );
    if indices.is_empty() || is_long {
        return Ok(0.0);
    }
    // For each bit, the n-grams that set it, as far as their numbers have room in a word.
    let mut setters: Vec<u32> = memory::filled(shape.m() as usize, 0)?;
    let mut sets: Vec<u64> = memory::filled(shape.m() as usize, 0)?;
    for (number, &index) in indices.iter().enumerate() {
        hasher.positions(index, |at| {
            setters[at as usize] += 1;
            sets[at as usize] |= 1 << (number % 64);
            true
        });
    }
    sets.retain(|&set| set != 0);
    let bits = sets.len() as u32;
    let window = usize::from(shape.ngram());
    let are_few = edits <= MOST_PLACED && choices(indices.len(), edits) <= MOST_CHOICES;
    let lost = match are_few {
        true => destroyed(&sets, indices.len(), window, edits, 0, 0),
        false => {
            // A bit is shared among its n-grams, so the shares of some of them are no less than the bits that are lost with them.
            let shares = indices.iter().map(|&index| {
                let mut share = 0.0;
                hasher.positions(index, |at| {
                    share += 1.0 / f64::from(setters[at as usize]);
                    true
                });
                share
            });
            let most = heaviest(&shares.collect::<Vec<f64>>(), window, edits as usize);
            // Shares are sums of fractions, and a whole number of bits is lost.
            ((most + 1e-6).floor() as u32).min(bits)
        }
    };
    Ok(f64::from(bits - lost) / (f64::from(bits) + f64::from(made(edits, shape))))
}

/// Bits at most that so many edits add to a signature.
fn made(edits: u32, shape: Shape) -> u32 {
    edits
        .saturating_mul(shape.ngram().into())
        .saturating_mul(shape.k().into())
}

/// What a query for texts within some edits asks of a signature besides the similarity: it has so many bits of the text at
/// least, so many others at most, and all bits of so many of the n-grams, counted with repetitions.
///
/// One similarity for all signatures has to allow for one that has lost bits and one that has got others, though no row
/// has done both; and bits that are common by chance make no whole n-gram.
pub struct Edits {
    /// Bits in common with the text at least.
    pub least_common: u32,
    /// Other bits at most.
    pub most_others: u32,
    /// The bits of each n-gram, as many as a signature has segments.
    positions: Vec<u32>,
    segments: usize,
    /// N-grams that may be missing.
    may_miss: usize,
}

impl Edits {
    /// What a query asks for; `None` if it is of no text, or its threshold says nothing.
    ///
    /// Errors: out of memory.
    pub fn new(query: &QueryView<'_>) -> Result<Option<Edits>> {
        // What rounding can take of a number of bits.
        const SLACK: f64 = 1e-6;
        let (Some(edited), shape) = (query.edited, query.signature.shape()) else {
            return Ok(None);
        };
        let most_others = made(edited.edits.into(), shape);
        let whole = f64::from(query.signature.popcount()) + f64::from(most_others);
        let ngrams = edited.text.len() + usize::from(shape.ngram());
        let mut positions = Vec::new();
        memory::reserve(&mut positions, ngrams * usize::from(shape.k()))?;
        let hasher = Hasher::new(shape);
        for_each_normal_ngram(edited.text, shape.ngram(), |index| {
            hasher.positions(index, |at| {
                positions.push(at);
                true
            });
        });
        Ok(Some(Edits {
            least_common: (query.threshold * whole - SLACK).ceil().max(0.0) as u32,
            most_others,
            positions,
            segments: usize::from(shape.k()).max(1),
            may_miss: usize::from(edited.edits) * usize::from(shape.ngram()),
        }))
    }

    /// Whether a signature has so many n-grams as a whole; `has` tells of a bit whether it is set.
    pub fn has_ngrams(&self, has: impl Fn(usize) -> bool) -> bool {
        let ngrams = self.positions.chunks_exact(self.segments);
        let missing = ngrams.filter(|bits| !bits.iter().all(|&at| has(at as usize)));
        missing.take(self.may_miss + 1).count() <= self.may_miss
    }
}

impl QueryView<'_> {
    /// Whether a signature reaches the query's threshold, or this one if that is greater, and may be of a text within its edits.
    ///
    /// Errors: another shape; out of memory.
    pub fn is_matched_by(&self, signature: &View<'_>, threshold: f64) -> Result<bool> {
        let counts = Popcounts::new(signature, &self.signature)?;
        if counts.jaccard() < self.threshold.max(threshold) {
            return Ok(false);
        }
        let bits = signature.bits();
        Ok(Edits::new(self)?.is_none_or(|edits| {
            counts.common >= edits.least_common
                && counts.a - counts.common <= edits.most_others
                && edits.has_ngrams(|at| bits[at / 8] >> (at % 8) & 1 == 1)
        }))
    }
}

/// In how many ways so many edits can be placed among so many n-grams; many where n-grams have no room in a word.
fn choices(ngrams: usize, edits: u32) -> usize {
    match ngrams {
        0..=64 => (0..edits as usize).fold(1usize, |ways, i| {
            ways.saturating_mul(ngrams.saturating_sub(i)) / (i + 1)
        }),
        _ => usize::MAX,
    }
}

/// The most bits that are lost with the n-grams of so many windows, where those of `taken` are destroyed already; each bit is
/// given by the n-grams that set it.
fn destroyed(
    sets: &[u64],
    ngrams: usize,
    window: usize,
    windows: u32,
    taken: u64,
    from: usize,
) -> u32 {
    if windows == 0 || from >= ngrams {
        return sets.iter().filter(|&&set| set & !taken == 0).count() as u32;
    }
    let of = |begin: usize| taken | (((1u64 << window) - 1) << begin);
    let each = (from..ngrams)
        .map(|begin| destroyed(sets, ngrams, window, windows - 1, of(begin), begin + 1));
    each.max().unwrap_or(0)
}

/// The greatest sum of so many windows of neighbours.
fn heaviest(weights: &[f64], window: usize, windows: usize) -> f64 {
    let mut sums = vec![0.0];
    for weight in weights {
        sums.push(sums[sums.len() - 1] + weight);
    }
    // By the number of weights from the beginning, the best with one window fewer.
    let mut best = vec![0.0; sums.len()];
    // More windows than cover all add nothing.
    for _ in 0..windows.min(weights.len().div_ceil(window)) {
        let mut with = vec![0.0; sums.len()];
        for end in 1..sums.len() {
            let begin = end.saturating_sub(window);
            let here: f64 = best[begin] + sums[end] - sums[begin];
            with[end] = here.max(with[end - 1]);
        }
        best = with;
    }
    best[weights.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{plan, Builder, View};
    use crate::similarity::Popcounts;
    use proptest::prelude::*;

    fn signature(text: &str, shape: Shape) -> Vec<u8> {
        let mut bytes = vec![0; Builder::size(shape)];
        let mut builder = Builder::new(shape, &mut bytes);
        builder.add_text(text, Gaps::Closed, || ()).unwrap();
        builder.finish();
        bytes
    }

    fn similarity(a: &str, b: &str, shape: Shape) -> f64 {
        let [a, b] = [a, b].map(|text| signature(text, shape));
        let view = |bytes| View::stored(bytes).unwrap();
        Popcounts::new(&view(&a), &view(&b)).unwrap().jaccard()
    }

    fn query_bytes(asked: &[u8], bound: f64, text: &str, edits: usize) -> Vec<u8> {
        let middle = [&[edits as u8], text.as_bytes()].concat();
        let middle = if text.is_empty() { &[] } else { &middle[..] };
        [asked, middle, &bound.to_le_bytes()].concat()
    }

    /// As similar as the bound asks, and further away than the edits: each of the three conditions keeps one out.
    #[test]
    fn what_no_similarity_keeps_out() {
        let shape = plan(30, 3, 0.01).unwrap().shape;
        let bound = |text: &str, edits| edit_bound(text, edits, shape, || ()).unwrap();
        let is_found = |text: &str, row: &str, edits: usize| {
            let bound = bound(text, edits as u32);
            assert!(similarity(text, row, shape) >= bound, "{text} {row}");
            let [asked, row] = [text, row].map(|text| signature(text, shape));
            let query = query_bytes(&asked, bound, text, edits);
            let query = QueryView::stored(&query).unwrap();
            query
                .is_matched_by(&View::stored(&row).unwrap(), 0.0)
                .unwrap()
        };
        assert!(is_found("erikamustermann", "erikamusterman", 1));
        // It lacks too many bits, and has no others.
        assert!(!is_found("erikamustermann", "mustermann", 2));
        // It lacks none, and has too many others.
        assert!(!is_found("mustermann", "claudiahelgamustermann", 2));
        // Of these, four edits away, some have bits enough in common by chance, and too few n-grams.
        let text = "erikamustermann";
        let asked = signature(text, shape);
        let query = query_bytes(&asked, bound(text, 2), text, 2);
        let query = QueryView::stored(&query).unwrap();
        let edits = Edits::new(&query).unwrap().unwrap();
        let letters = || ('a'..='z').flat_map(|x| ('a'..='z').map(move |y| [x, y]));
        let by_chance = letters().filter(|[x, y]| {
            let row = signature(&format!("e{x}{y}kamust{y}{x}mann"), shape);
            let row = View::stored(&row).unwrap();
            let counts = Popcounts::new(&query.signature, &row).unwrap();
            let has_bits = counts.common >= edits.least_common
                && counts.b - counts.common <= edits.most_others;
            has_bits && !query.is_matched_by(&row, 0.0).unwrap()
        });
        assert!(by_chance.count() > 0);
    }

    #[test]
    fn windows_that_weigh_most() {
        let weights = [1.0, 5.0, 1.0, 1.0, 4.0, 4.0, 0.0, 3.0];
        assert_eq!(heaviest(&weights, 2, 0), 0.0);
        assert_eq!(heaviest(&weights, 2, 1), 8.0);
        assert_eq!(heaviest(&weights, 2, 2), 14.0);
        assert_eq!(heaviest(&weights, 2, 100), 19.0);
        // Those at the ends may be narrower.
        assert_eq!(heaviest(&[9.0, 1.0, 9.0], 2, 2), 19.0);
    }

    #[test]
    fn no_bound_of_what_edits_may_replace_as_a_whole() {
        let shape = plan(30, 3, 0.01).unwrap().shape;
        let bound = |text: &str, edits| edit_bound(text, edits, shape, || ()).unwrap();
        assert_eq!(bound("", 0), 0.0);
        assert_eq!(bound("ab", 2), 0.0);
        assert_eq!(bound("Erika Mustermann", 0), 1.0);
        let bounds = [1, 2, 3].map(|edits| bound("Erika Mustermann", edits));
        assert!(
            bounds[0] > 0.55 && bounds[0] > bounds[1] && bounds[1] > bounds[2] && bounds[2] > 0.15
        );
        assert_eq!(bound(&"a1b2".repeat(3000), 1), 0.0);
        // Nobody waits for all ways in which many edits can be placed.
        assert_eq!(bound("Maximilian Hohenstein von Weissenburg", 31), 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn never_above_what_is(
            text in "[a-d]{0,24}",
            edits in prop::collection::vec((0..3usize, 0..30usize, 0..5usize), 0..4),
            ngram in 2..5i64,
            chars in 3..60i64,
        ) {
            let shape = plan(chars, ngram, 0.01).unwrap().shape;
            let mut other: Vec<char> = text.chars().collect();
            for &(kind, at, letter) in &edits {
                let letter = ['a', 'b', 'c', 'd', 'z'][letter];
                let at = at % (other.len() + 1);
                match kind {
                    0 => other.insert(at, letter),
                    1 if at < other.len() => { other.remove(at); }
                    _ if at < other.len() => other[at] = letter,
                    _ => (),
                }
            }
            let other: String = other.into_iter().collect();
            let bound = edit_bound(&text, edits.len() as u32, shape, || ()).unwrap();
            let found = similarity(&text, &other, shape);
            prop_assert!(found >= bound, "{text} {other} {found} {bound}");
            let [asked, row] = [&text, &other].map(|text| signature(text, shape));
            let query = query_bytes(&asked, bound, &text, edits.len());
            let query = QueryView::stored(&query).unwrap();
            let is_matched = query.is_matched_by(&View::stored(&row).unwrap(), 0.0).unwrap();
            prop_assert!(bound == 0.0 || is_matched, "{text} {other} {bound}");
        }
    }
}
