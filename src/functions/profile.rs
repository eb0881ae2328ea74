//! Weighted similarity of records that are arrays of signatures.

use bloom_ident_core::similarity::{profile, Popcounts, Weights};
use bloom_ident_core::{Error, ErrorKind, Result};
use pgrx::pg_sys;

use crate::pg::entry;
use crate::pg::error::OrRaise;
use crate::types::{float8_array, Bloom, Elements};

/// `(bloom[], bloom[], float8[])`; NULL when no attribute of positive weight is on both sides.
#[entry]
fn bloom_profile_sim(fcinfo: pg_sys::FunctionCallInfo) -> Option<f64> {
    // SAFETY: declared as (bloom[], bloom[], float8[]), and STRICT.
    let [a, b, weights] = unsafe {
        let args = (*fcinfo).args.as_slice(3);
        [args[0].value, args[1].value, args[2].value]
    };
    let compute = || -> Result<Option<f64>> {
        // SAFETY: the first two arguments.
        let (a, b) = unsafe { (Elements::of(a)?, Elements::of(b)?) };
        let sims = a.iter().zip(b.iter()).map(|pair| {
            let (Some(x), Some(y)) = pair else {
                return Ok(None);
            };
            // SAFETY: elements of bloom[], alive with their arrays.
            let (x, y) = unsafe { (Bloom::from_raw(x), Bloom::from_raw(y)) };
            Ok(Some(Popcounts::of(&x.view(), &y.view())?.jaccard()))
        });
        // SAFETY: the third argument.
        unsafe {
            float8_array(weights, "weight", |weights| {
                let weights = Weights::new(weights)?;
                if a.len() != b.len() || a.len() != weights.len() {
                    return Err(Error::new(
                        ErrorKind::ArraySubscript,
                        format!(
                            "profiles of {} and {} signatures do not fit {} weights",
                            a.len(),
                            b.len(),
                            weights.len()
                        ),
                    )
                    .detail("Both profiles and the weights must have one element an attribute.")
                    .hint("Put NULL for an attribute that is missing."));
                }
                profile(weights, sims)
            })
        }
    };
    compute().or_raise()
}
