//! Similarity and distance of two signatures, and the operators that ask for them.

use signature::filter::rates;
use signature::similarity::Popcounts;

use pg::entry;
use pg::error::OrRaise;
use types::settings;
use types::Bloom;

#[inline]
fn counts(a: &Bloom<'_>, b: &Bloom<'_>) -> Popcounts {
    Popcounts::of(&a.view(), &b.view()).or_raise()
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
