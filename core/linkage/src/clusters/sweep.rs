//! What every threshold would have found, from one pass over the pairs.

use super::quality::PairCounts;
use base::error::number;
use base::memory::{collected, filled_in_turns};
use base::Ticker;
use base::{Error, Result};

/// Counts pairs by the greatest threshold that they reach, so a pair costs one binary search however
/// many thresholds there are.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Ascending.
    thresholds: Vec<f64>,
    /// For each number of thresholds reached: pairs, and those of them that are true.
    reached: Vec<(u64, u64)>,
}

/// What a threshold finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepStep {
    /// The least similarity of a pair that it finds.
    pub threshold: f64,
    /// The pairs that it finds, and those that are true.
    pub counts: PairCounts,
}

impl Sweep {
    /// Errors: thresholds that do not ascend, a NaN, out of memory.
    pub fn new(thresholds: &[f64]) -> Result<Sweep> {
        if let [t] = thresholds {
            if t.is_nan() {
                return Err(unordered(*t, *t));
            }
        }
        // a NaN is less than nothing
        let ascend = |w: &&[f64]| !matches!(w, [a, b] if a < b);
        if let Some(w) = thresholds.windows(2).find(ascend) {
            return Err(unordered(w[0], w[1]));
        }
        Sweep::of(thresholds.iter().copied())
    }

    /// The thresholds i/n for i from 0 to n: as quotients, so that a similarity of 4/5 reaches 80/100.
    ///
    /// Errors: n = 0, out of memory.
    pub fn grid(n: u32) -> Result<Sweep> {
        if n == 0 {
            return Err(Error::invalid("a grid of 0 steps is out of range")
                .detail("A grid has at least 1 step."));
        }
        Sweep::of((0..n as usize + 1).map(|i| i as f64 / f64::from(n)))
    }

    fn of(thresholds: impl ExactSizeIterator<Item = f64>) -> Result<Sweep> {
        let n = thresholds.len();
        Ok(Sweep {
            thresholds: collected(thresholds, n)?,
            reached: filled_in_turns(n + 1, (0, 0), &mut Ticker::new(|| ()))?,
        })
    }

    /// Takes a pair. It reaches the thresholds with similarity >= threshold, compared as they are; NaN
    /// reaches none. Each pair is to be given once.
    pub fn add(&mut self, similarity: f64, is_true: bool) {
        let reached = self.thresholds.partition_point(|&t| t <= similarity);
        let (pairs, true_pairs) = &mut self.reached[reached];
        *pairs += 1;
        *true_pairs += u64::from(is_true);
    }

    /// What each threshold finds, in ascending order. `truth` is the number of all true pairs, those that
    /// were not given among them. The pairs given must be all that reach the threshold: below the one
    /// that they were searched with, too few are counted as found.
    ///
    /// Errors: fewer true pairs than were given, out of memory.
    pub fn steps(&self, truth: u64) -> Result<Vec<SweepStep>> {
        let given = self.reached.iter().map(|&(_, true_pairs)| true_pairs);
        let given: u64 = given.sum();
        if given > truth {
            return Err(Error::data_exception(format!(
                "{given} true pairs were given, but there are {truth} in all"
            ))
            .hint("Give each pair once, and count those that were not found, too."));
        }
        let nothing = SweepStep {
            threshold: 0.0,
            counts: PairCounts::default(),
        };
        let ticker = &mut Ticker::new(|| ());
        let mut steps = filled_in_turns(self.thresholds.len(), nothing, ticker)?;
        let (mut found, mut both) = (0, 0);
        for (i, step) in steps.iter_mut().enumerate().rev() {
            let (pairs, true_pairs) = self.reached[i + 1];
            found += pairs;
            both += true_pairs;
            *step = SweepStep {
                threshold: self.thresholds[i],
                counts: PairCounts { found, truth, both },
            };
        }
        Ok(steps)
    }
}

/// The step with the greatest F1; of equals the one with the highest threshold. `None` if there are none.
pub fn best(steps: &[SweepStep]) -> Option<SweepStep> {
    let f1 = |step: &SweepStep| step.counts.rates().f1;
    let order = |a: &&SweepStep, b: &&SweepStep| {
        let by_threshold = || a.threshold.total_cmp(&b.threshold);
        f1(a).total_cmp(&f1(b)).then_with(by_threshold)
    };
    steps.iter().max_by(order).copied()
}

#[cold]
fn unordered(a: f64, b: f64) -> Error {
    let message = if a.is_nan() || b.is_nan() {
        "a threshold is NaN".to_owned()
    } else {
        format!("threshold {} does not follow {}", number(b), number(a))
    };
    Error::invalid(message).detail("Thresholds are given in ascending order.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_inclusive() {
        let mut sweep = Sweep::grid(10).unwrap();
        for (similarity, is_true) in [
            (0.8, true),
            (0.8f64.next_down(), true),
            (1.0, true),
            (0.3, false),
            (f64::NAN, false),
        ] {
            sweep.add(similarity, is_true);
        }
        let steps = sweep.steps(4).unwrap();
        assert_eq!(steps.len(), 11);
        let at = |i: usize| (steps[i].counts.found, steps[i].counts.both);
        assert_eq!((at(0), at(3), at(4)), ((4, 3), (4, 3), (3, 3)));
        assert_eq!(
            (at(7), at(8), at(9), at(10)),
            ((3, 3), (2, 2), (1, 1), (1, 1))
        );
        assert!(steps.iter().all(|step| step.counts.truth == 4));
        let best = best(&steps).unwrap();
        assert_eq!((best.threshold, best.counts.rates().f1), (0.7, 6.0 / 7.0));
    }

    #[test]
    fn odd_thresholds() {
        for bad in [
            &[0.5, 0.5][..],
            &[0.5, 0.4],
            &[f64::NAN],
            &[0.1, f64::NAN],
            &[f64::NAN, 0.1],
        ] {
            assert!(Sweep::new(bad).is_err(), "{bad:?}");
        }
        assert!(Sweep::grid(0).is_err());
        let mut none = Sweep::new(&[]).unwrap();
        none.add(0.5, true);
        assert_eq!(none.steps(1).unwrap(), []);
        assert_eq!(best(&[]), None);
        let refused = none.steps(0).unwrap_err();
        assert_eq!(
            refused.message(),
            "1 true pairs were given, but there are 0 in all"
        );
    }

    #[test]
    fn nothing_found_and_nothing_true() {
        let steps = Sweep::new(&[0.5, 0.9]).unwrap().steps(0).unwrap();
        assert_eq!(best(&steps).unwrap().threshold, 0.9);
        assert_eq!(best(&steps).unwrap().counts.rates().f1, 1.0);
    }
}
