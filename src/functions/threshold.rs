//! Similarity held against a threshold: the operators of `bloom_query`, and what comparisons of a
//! similarity are rewritten to.

use signature::similarity::Popcounts;

use pg::entry;
use pg::error::OrRaise;
use types::{Bloom, BloomQuery};

fn counts(a: &Bloom<'_>, b: &Bloom<'_>) -> Popcounts {
    Popcounts::of(&a.view(), &b.view()).or_raise()
}

/// `bloom % bloom_query`
#[entry]
fn bloom_matches(signature: Bloom<'_>, query: BloomQuery<'_>) -> bool {
    let query = query.view();
    let counts = Popcounts::of(&signature.view(), &query.signature).or_raise();
    counts.jaccard() >= query.threshold
}

/// `bloom_query % bloom`
#[entry]
fn bloom_query_matches(query: BloomQuery<'_>, signature: Bloom<'_>) -> bool {
    bloom_matches(signature, query)
}

/// `bloom_query % bloom_query`: the larger threshold counts.
#[entry]
fn bloom_queries_match(a: BloomQuery<'_>, b: BloomQuery<'_>) -> bool {
    let (a, b) = (a.view(), b.view());
    let counts = Popcounts::of(&a.signature, &b.signature).or_raise();
    counts.jaccard() >= a.threshold.max(b.threshold)
}

#[entry]
fn bloom_sim_above(a: Bloom<'_>, b: Bloom<'_>, limit: f64) -> bool {
    counts(&a, &b).jaccard() > limit
}

#[entry]
fn bloom_sim_at_least(a: Bloom<'_>, b: Bloom<'_>, least: f64) -> bool {
    counts(&a, &b).jaccard() >= least
}

#[entry]
fn bloom_dice_above(a: Bloom<'_>, b: Bloom<'_>, limit: f64) -> bool {
    counts(&a, &b).dice() > limit
}

#[entry]
fn bloom_dice_at_least(a: Bloom<'_>, b: Bloom<'_>, least: f64) -> bool {
    counts(&a, &b).dice() >= least
}
