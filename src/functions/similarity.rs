//! Similarity and distance of two signatures, by itself and held against a threshold.

use base::{Error, ErrorKind, Result};
use pgrx::pg_sys;
use signature::filter::rates;
use signature::similarity::{jaccard_of_dice, profile, profile_coverage, Popcounts, Weights};

use pg::entry;
use pg::error::{raise, OrRaise};
use types::{fixed_array, settings, Bloom, BloomQuery, Elements};

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

/// What all pairs of a Dice similarity reach by their Jaccard similarity, and but for rounding no others.
///
/// Errors: it does not lie from 0 to 1.
#[entry]
fn bloom_jaccard_of_dice(dice: f64) -> f64 {
    if !(0.0..=1.0).contains(&dice) {
        raise(
            &Error::invalid(format!("Dice similarity {dice} is out of range"))
                .detail("It goes from 0 to 1."),
        );
    }
    jaccard_of_dice(dice)
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
    let matched = query.view().is_matched_by(&signature.view(), 0.0);
    matched.or_raise()
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
    b.is_matched_by(&a.signature, a.threshold).or_raise()
        && a.is_matched_by(&b.signature, b.threshold).or_raise()
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

// Weighted similarity of records that are arrays of signatures.

/// Passes two profiles and their weights to `compute`.
///
/// Errors: profiles and weights that do not fit each other; weights that cannot be; those of `compute`.
///
/// # Safety
/// `fcinfo` is that of a call with arguments `(bloom[], bloom[], float8[])`, none of them NULL.
unsafe fn compare<T>(
    fcinfo: pg_sys::FunctionCallInfo,
    compute: impl FnOnce(&Elements, &Elements, Weights<'_>) -> Result<T>,
) -> T {
    // SAFETY: the caller says what the arguments are.
    let [a, b, weights] = unsafe {
        let args = (*fcinfo).args.as_slice(3);
        [args[0].value, args[1].value, args[2].value]
    };
    let compare = || -> Result<T> {
        // SAFETY: the first two arguments.
        let (a, b) = unsafe { (Elements::new(a)?, Elements::new(b)?) };
        // SAFETY: the third argument.
        unsafe {
            fixed_array(weights, "weight", |weights: &[f64]| {
                let weights = Weights::new(weights)?;
                if a.len() != b.len() || a.len() != weights.as_slice().len() {
                    return Err(Error::new(
                        ErrorKind::ArraySubscript,
                        format!(
                            "profiles of {} and {} signatures do not fit {} weights",
                            a.len(),
                            b.len(),
                            weights.as_slice().len()
                        ),
                    )
                    .detail("Both profiles and the weights must have one element an attribute.")
                    .hint("Put NULL for an attribute that is missing."));
                }
                compute(&a, &b, weights)
            })
        }
    };
    compare().or_raise()
}

/// `(a bloom[], b bloom[], weights float8[]) RETURNS bloom_score`
///
/// NULL when no attribute of positive weight is on both sides.
#[entry]
fn bloom_profile_sim(fcinfo: pg_sys::FunctionCallInfo) -> Option<f64> {
    // SAFETY: declared with these arguments, and STRICT.
    unsafe {
        compare(fcinfo, |a, b, weights| {
            let sims = a.iter().zip(b.iter()).map(|pair| {
                let (Some(x), Some(y)) = pair else {
                    return Ok(None);
                };
                // Elements of bloom[], alive with their arrays.
                let (x, y) = (Bloom::from_raw(x), Bloom::from_raw(y));
                Ok(Some(Popcounts::new(&x.view(), &y.view())?.jaccard()))
            });
            profile(weights, sims)
        })
    }
}

/// `(a bloom[], b bloom[], weights float8[]) RETURNS float8`
///
/// The share of the weights whose attributes are on both sides.
#[entry]
fn bloom_profile_coverage(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared with these arguments, and STRICT.
    unsafe {
        compare(fcinfo, |a, b, weights| {
            let both = a.iter().zip(b.iter());
            let present = both.map(|(a, b)| {
                // They are read to refuse those of a format that is not known, as everything does. They are alive with
                // their arrays.
                let [a, b] = [a, b].map(|signature| signature.map(|s| Bloom::from_raw(s)));
                a.is_some() && b.is_some()
            });
            Ok(profile_coverage(weights, present))
        })
    }
}
