//! What a search of states misses that keeps those it has seen in a filter only (P. C. Dillinger, P. Manolios: Bloom
//! Filters in Probabilistic Verification, FMCAD 2004): a new state that the filter takes for a seen one is omitted.

use super::rates::{at_least, exact_false_positive};
use base::Result;
use base::Ticker;

/// States that are summed up one by one.
const ONE_BY_ONE: f64 = 1_048_576.0;

/// Stretches that the sum over more states is integrated in, by five points each. The sum is so smooth there that all
/// digits agree.
const STRETCHES: u32 = 4096;

/// What a search of n states omits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Omissions {
    /// The expected number of states that are omitted themselves: Σ f(i), where f(i) is the false-positive rate with i
    /// states in the filter, and i goes from 0 to n−1. What can be reached through them only is not among them.
    pub expected: f64,
    /// The probability that any is: 1−Π(1−f(i)).
    pub any: f64,
}

/// What a search omits that puts n states into m bits by k hash functions. `tick` is called now and then.
///
/// Errors: k or m under 1, n under 0.
pub fn omissions(k: i64, m: i64, n: i64, tick: impl FnMut()) -> Result<Omissions> {
    at_least(&[("k", k, 1), ("m", m, 1), ("n", n, 0)])?;
    let (k, m, n) = (k as f64, m as f64, n as f64);
    let rate = |i: f64| exact_false_positive(k, m, i);
    // From here on the filter is full, and 1 is the nearest number to the rate.
    let full = ((60.0 + k.ln()) / k * m).ceil();
    let end = n.min(full);
    let mut ticker = Ticker::new(tick);
    let (mut expected, mut none) = (0.0, 0.0);
    let mut add = |weight: f64, rate: f64| {
        expected += weight * rate;
        // the logarithm of the probability that none is
        none += weight * (-rate).ln_1p();
    };
    if end <= ONE_BY_ONE {
        for i in 0..end as u64 {
            add(1.0, rate(i as f64));
            ticker.step();
        }
    } else {
        // The sum over 0…end−1 is the integral from −1/2 to end−1/2, but for what is nothing where there are so many;
        // the first states are taken one by one, since the rate is not smooth where it begins.
        let begin = ONE_BY_ONE / 2.0;
        for i in 0..begin as u64 {
            add(1.0, rate(i as f64));
            ticker.step();
        }
        let half = (end - begin) / f64::from(STRETCHES) / 2.0;
        for stretch in 0..STRETCHES {
            let middle = begin - 0.5 + (2.0 * f64::from(stretch) + 1.0) * half;
            for (at, weight) in GAUSS {
                add(weight * half, rate(middle + at * half));
                ticker.step();
            }
        }
    }
    expected += n - end;
    // not −0 where nothing can be omitted
    let any = if n > end { 1.0 } else { 0.0 - none.exp_m1() };
    Ok(Omissions { expected, any })
}

/// Points and weights of Gauss and Legendre, for −1…1.
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];
