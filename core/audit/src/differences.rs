//! Differences: what two similar records differ in is seen in what their signatures differ in, whatever they have in common (the
//! paper Differential Cryptanalysis of Bloom Filters for Privacy-Preserving Record Linkage, IEEE TIFS 19, 2024, of
//! which this follows the published summary: graphs of such differences, in which nodes are matched by their features).
//! Patterns are mined in the differences of similar pairs, and aligned with the tokens that similar records of the
//! reference differ in.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::align::{Graph, MOST_NODES};
use crate::bits::{count, insert, similar_pairs, RecordSet, Signatures};
use crate::clues::Clues;
use crate::patterns::mine;
use crate::reference::Reference;
use crate::SHARE;

/// Differences that are looked at.
pub(crate) const PAIRS: usize = 16_000;

/// Bits of a token are seen in so many of the differences that it is in: what both records set hides the others.
const SEEN: f64 = 0.8;

/// A difference has a pattern if it has so many of its bits.
const HAVING: f64 = 0.62;

/// Of the pairs each so-and-so-manieth is taken. Pairs of the same records depend on one another, so each counts for less.
const EVERY: usize = 2;
const WEIGHT: f64 = 0.2;

/// The patterns of the differences of signatures, and the tokens in which records of the reference differ.
pub(crate) fn clues(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Clues {
    let most_pairs = of.most_differences();
    let some = |of: &Signatures, turn: &mut dyn FnMut()| {
        let pairs = similar_pairs(of, EVERY * most_pairs, turn);
        pairs.into_iter().step_by(EVERY).collect::<Vec<_>>()
    };
    let (patterns, differences) = {
        let pairs = some(of, turn);
        let mut rows = Vec::with_capacity(pairs.len() * of.stride());
        for (a, b) in &pairs {
            rows.extend(of.row(*a).iter().zip(of.row(*b)).map(|(a, b)| a ^ b));
        }
        let theirs = Signatures::of_words(of.bits(), rows, turn);
        let least = theirs.records() / 100;
        (mine(&theirs, least, SEEN, HAVING, turn), theirs.records())
    };
    let pairs = some(&reference.as_signatures(turn), turn);
    // Counted first, since there may be far more tokens than are compared.
    let mut counts = vec![0; reference.tokens().len()];
    for (a, b) in &pairs {
        turn();
        for token in reference.differing(*a, *b) {
            counts[token as usize] += 1;
        }
    }
    let mut tokens: Vec<u32> = (0..counts.len() as u32).collect();
    tokens.retain(|token| counts[*token as usize] > 0);
    tokens.sort_by_key(|token| (Reverse(counts[*token as usize]), *token));
    tokens.truncate(MOST_NODES);
    let places: HashMap<u32, usize> = tokens.iter().copied().zip(0..).collect();
    let mut sets: Vec<RecordSet> = vec![vec![0; pairs.len().div_ceil(64)]; tokens.len()];
    for (n, (a, b)) in pairs.iter().enumerate() {
        turn();
        for token in reference.differing(*a, *b) {
            if let Some(place) = places.get(&token) {
                insert(&mut sets[*place], n);
            }
        }
    }
    let ours: Vec<&[u64]> = sets.iter().map(|set| &set[..]).collect();
    let theirs: Vec<&[u64]> = patterns
        .iter()
        .map(|pattern| &pattern.having[..])
        .take(MOST_NODES)
        .collect();
    let with = patterns.iter().take(MOST_NODES).map(|pattern| {
        let least = (count(&pattern.bits) as f64 * SHARE).ceil() as usize;
        of.with(&pattern.bits, least, turn)
    });
    let nodes = with.collect();
    Clues {
        theirs: Graph::new(&theirs, differences, turn),
        ours: Graph::new(&ours, pairs.len(), turn),
        records: differences.min(pairs.len()) as f64 * WEIGHT,
        tokens: tokens.into_iter().map(|token| vec![token]).collect(),
        nodes,
    }
}
