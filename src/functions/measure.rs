//! Similarity and distance of two signatures, and the operators that ask for them.

use bloom_ident_core::filter::rates;
use bloom_ident_core::similarity::Counts;
use pgrx::pg_extern;

use crate::error::OrRaise;
use crate::settings;
use crate::types::Bloom;

#[inline]
fn counts(a: &Bloom<'_>, b: &Bloom<'_>) -> Counts {
    Counts::of(&a.view(), &b.view()).or_raise()
}

#[pg_extern(sql = false)]
fn bloom_sim(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).jaccard()
}

#[pg_extern(sql = false)]
fn bloom_dice(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).dice()
}

#[pg_extern(sql = false)]
fn bloom_overlap(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).overlap()
}

#[pg_extern(sql = false)]
fn bloom_cosine(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).cosine()
}

#[pg_extern(sql = false)]
fn bloom_containment(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    counts(&a, &b).containment()
}

#[pg_extern(sql = false)]
fn bloom_hamming(a: Bloom<'_>, b: Bloom<'_>) -> i32 {
    counts(&a, &b).hamming() as i32
}

/// `<->`
#[pg_extern(sql = false)]
fn bloom_distance(a: Bloom<'_>, b: Bloom<'_>) -> f64 {
    1.0 - counts(&a, &b).jaccard()
}

/// `%`: the threshold is a setting, so this is STABLE.
#[pg_extern(sql = false)]
fn bloom_similar(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    counts(&a, &b).jaccard() >= settings::threshold()
}

/// `@>`
#[pg_extern(sql = false)]
fn bloom_covers(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    counts(&a, &b).contains()
}

/// `<@`
#[pg_extern(sql = false)]
fn bloom_covered_by(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    counts(&b, &a).contains()
}

#[pg_extern(sql = false)]
fn bloom_sim_corrected(a: Bloom<'_>, b: Bloom<'_>, delta: f64) -> f64 {
    rates::corrected_similarity(counts(&a, &b).jaccard(), delta).or_raise()
}
