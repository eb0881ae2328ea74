//! By how much less than a threshold is searched for, where what is found is compared exactly afterwards.

use super::plan::least_found;
use base::range::unit;
use base::Result;
use signature::similarity::Measure;
use signature::sketch::agreement;

/// The probability with which a pair of exactly the threshold is found by an estimate.
pub const RECALL: f64 = 0.99;

/// The margin of signatures. Their similarity is above that of the tokens on the average, since tokens share bits by
/// chance, and little below it in single pairs: docs/tokens.md tells how much is lost.
pub const OF_SIGNATURES: f64 = 0.05;

/// The similarity of signatures, or the estimate of sampled bits, from which on pairs are looked for whose tokens have
/// a Jaccard similarity of `threshold`: the threshold less the margin. Without a margin it is one by which few such
/// pairs are missed: [`OF_SIGNATURES`], or for sampled bits the least one by which a pair of exactly the threshold is
/// found with probability [`RECALL`]. Signatures are never looked for below 0, where all pairs are. An estimate can be
/// below 0.
pub fn searched(measure: Measure, threshold: f64, margin: Option<f64>) -> f64 {
    match (measure, margin) {
        (Measure::Jaccard, margin) => less(threshold, margin.unwrap_or(OF_SIGNATURES)).max(0.0),
        (Measure::Agreement { .. }, Some(margin)) => less(threshold, margin),
        (Measure::Agreement { bits }, None) => {
            let n = bits as u16;
            agreement(least_found(n, threshold, RECALL).0, n)
        }
    }
}

/// The difference, a trifle below what it would be rounded to: a margin may be a difference that was rounded itself,
/// and what is just as similar as it says is to be found.
fn less(threshold: f64, margin: f64) -> f64 {
    if margin == 0.0 {
        threshold
    } else {
        threshold - margin - f64::EPSILON
    }
}

/// Checks a margin that is given.
///
/// Errors: outside 0…1, or NaN.
pub fn check(margin: f64) -> Result<()> {
    unit("margin", margin)
}

#[cfg(test)]
mod tests {
    use super::super::plan::{plan, NUMBERS};
    use super::*;

    /// The margin that [`searched`] takes where none is given: 0…1 or little more.
    fn default_margin(measure: Measure, threshold: f64) -> f64 {
        threshold - searched(measure, threshold, None)
    }

    #[test]
    fn the_margin_of_sketches_is_that_of_their_plan() {
        for n in NUMBERS {
            let measure = Measure::Agreement { bits: n.into() };
            for threshold in [0.05, 0.3, 0.5, 0.61, 0.8, 0.95, 1.0] {
                let plan = plan(1_000_000, threshold, RECALL, n).unwrap();
                assert_eq!(searched(measure, threshold, None), plan.threshold);
                assert_eq!(default_margin(measure, threshold), plan.margin);
                let same = searched(measure, threshold, Some(plan.margin));
                assert!(same <= plan.threshold && same > plan.threshold - 1e-12);
            }
            assert_eq!(searched(measure, 1.0, None), 1.0);
            assert!((searched(measure, 0.3, Some(0.5)) + 0.2).abs() < 1e-12);
        }
    }

    #[test]
    fn signatures_are_not_looked_for_below_0() {
        for (margin, expected) in [(None, 0.7), (Some(0.25), 0.5)] {
            let found = searched(Measure::Jaccard, 0.75, margin);
            assert!((expected - 1e-12..=expected).contains(&found), "{found}");
        }
        assert_eq!(searched(Measure::Jaccard, 0.75, Some(0.0)), 0.75);
        assert_eq!(searched(Measure::Jaccard, 0.03, None), 0.0);
        assert_eq!(default_margin(Measure::Jaccard, 0.03), 0.03);
    }

    #[test]
    fn margins_are_shares() {
        for margin in [0.0, 0.5, 1.0] {
            assert!(check(margin).is_ok());
        }
        for margin in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = check(margin).unwrap_err();
            assert!(error.message().starts_with("margin "), "{error:?}");
        }
    }
}
