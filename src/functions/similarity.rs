//! Similarity and distance of two signatures, by itself and held against a threshold.

use signature::filter::rates;
use signature::similarity::Popcounts;

use pg::entry;
use pg::error::OrRaise;
use types::{settings, Bloom, BloomQuery};

// Similarity and distance of two signatures, and the operators that ask for them.

#[inline]
fn counts(a: &Bloom<'_>, b: &Bloom<'_>) -> Popcounts {
    Popcounts::new(&a.view(), &b.view()).or_raise()
}

#[entry]
fn bloom_sim(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).jaccard()
}

#[entry]
fn bloom_dice(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).dice()
}

#[entry]
fn bloom_overlap(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).overlap()
}

#[entry]
fn bloom_cosine(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).cosine()
}

#[entry]
fn bloom_containment(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).containment()
}

#[entry]
fn bloom_hamming(a: Bloom<'_>, b: Bloom<'_>) -> i32 {
    counts(&a, &b).hamming() as i32
}

/// `<->`
#[entry]
fn bloom_distance(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    1.0 - counts(&a, &b).jaccard()
}

/// `%`: the threshold is a setting, so this is STABLE.
#[entry(stable)]
fn bloom_similar(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    counts(&a, &b).jaccard() >= settings::threshold()
}

/// `@>`
#[entry]
fn bloom_covers(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    counts(&a, &b).contains()
}

/// `<@`
#[entry]
fn bloom_covered_by(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    counts(&b, &a).contains()
}

#[entry]
fn bloom_sim_corrected(a: Bloom<'_>, b: Bloom<'_>, delta: f64) -> f64 {
    rates::corrected_similarity(counts(&a, &b).jaccard(), delta).or_raise()
}

// Similarity held against a threshold: the operators of `bloom_query`, and what comparisons of a similarity are
// rewritten to.

/// `bloom % bloom_query`
#[entry]
fn bloom_matches(signature: Bloom<'_>, query: BloomQuery<'_>) -> bool {
    let query = query.view();
    let counts = Popcounts::new(&signature.view(), &query.signature).or_raise();
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
    let counts = Popcounts::new(&a.signature, &b.signature).or_raise();
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
