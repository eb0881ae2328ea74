//! Weighted similarity of records that are arrays of signatures.

use base::{Error, ErrorKind, Result};
use pgrx::pg_sys;
use signature::similarity::{profile, profile_coverage, Popcounts, Weights};

use pg::entry;
use pg::error::OrRaise;
use types::{float8_array, Bloom, Elements};

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
            float8_array(weights, "weight", |weights| {
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
