//! Differences: what two similar records differ in is seen in what their signatures differ in, whatever they have in common (the
//! paper Differential Cryptanalysis of Bloom Filters for Privacy-Preserving Record Linkage, IEEE TIFS 19, 2024, of
//! which this follows the published summary: graphs of such differences, in which nodes are matched by their features).
//! Patterns are mined in the differences of similar pairs, and aligned with the tokens that similar records of the
//! reference differ in.

use std::collections::HashMap;

use crate::align::align;
use crate::bits::{count, set_of, similar_pairs, RecordSet, Signatures};
use crate::patterns::mine;
use crate::reference::Reference;

/// Pairs that are looked at, the most similar ones.
const PAIRS: usize = 32_000;

/// Bits of a token are seen in so many of the differences that it is in: what both records set hides the others.
const SEEN: f64 = 0.8;

/// A difference has a pattern if it has so many of its bits.
const HAVING: f64 = 0.62;

/// Of the pairs each so-and-so-manieth is taken. Pairs of the same records depend on one another, so each counts for less.
const EVERY: usize = 2;
const WEIGHT: f64 = 0.2;

/// By token, the records that are believed to have it.
pub(crate) fn token_sets(
    of: &Signatures,
    reference: &Reference,
    share: f64,
    turn: &mut dyn FnMut(),
) -> Vec<Option<RecordSet>> {
    let some = |of: &Signatures, turn: &mut dyn FnMut()| {
        let pairs = similar_pairs(of, PAIRS, turn).into_iter().step_by(EVERY);
        pairs.collect::<Vec<_>>()
    };
    let pairs = some(of, turn);
    let differ = |(a, b): &(usize, usize)| {
        of.row(*a)
            .iter()
            .zip(of.row(*b))
            .map(|(a, b)| a ^ b)
            .collect::<Vec<u64>>()
    };
    let theirs = Signatures::of_words(of.bits(), pairs.iter().flat_map(differ).collect());
    let plain = reference.as_signatures();
    let pairs = some(&plain, turn);
    let mut having: HashMap<u32, Vec<usize>> = HashMap::new();
    for (n, (a, b)) in pairs.iter().enumerate() {
        for token in reference.differing(*a, *b) {
            having.entry(token).or_default().push(n);
        }
    }
    let mut tokens: Vec<(u32, RecordSet)> = having
        .into_iter()
        .map(|(token, of)| (token, set_of(pairs.len(), of)))
        .collect();
    tokens.sort_by_key(|(token, set)| (std::cmp::Reverse(count(set)), *token));
    let sets: Vec<&[u64]> = tokens.iter().map(|(_, set)| &set[..]).collect();
    let patterns = mine(&theirs, theirs.records() / 100, SEEN, HAVING, turn);
    let mut found = vec![None; reference.tokens().len()];
    for (pattern, token) in align(
        &patterns,
        theirs.records(),
        &sets,
        pairs.len(),
        WEIGHT,
        turn,
    ) {
        let bits = &patterns[pattern].bits;
        let least = (count(bits) as f64 * share).ceil() as usize;
        found[tokens[token].0 as usize] = Some(of.with(bits, least));
    }
    found
}
