//! What the shares of the match class must obey.

use std::ops::Range;

use crate::model::values::EQUAL;

/// A lower similarity never counts for more: neighbours whose ratio to `u` rises are pooled (pool adjacent violators;
/// the most frequent equal values are the first level, as rarer ones rightly count for more). `m`: the shares of the
/// ordered levels, from the best to the worst.
pub(in crate::model) fn make_monotone(m: &mut [f64], u: &[f64]) {
    const FIRST: usize = EQUAL - 1;
    // levels from..to with the sums of their shares
    let mut blocks: Vec<(usize, f64, f64)> = Vec::with_capacity(m.len() - FIRST);
    for level in FIRST..m.len() {
        let mut block = (level, m[level], u[level]);
        while let Some(&(from, m_before, u_before)) = blocks.last() {
            if m_before / u_before >= block.1 / block.2 - 1e-15 {
                break;
            }
            blocks.pop();
            block = (from, m_before + block.1, u_before + block.2);
        }
        blocks.push(block);
    }
    let ends = blocks.iter().skip(1).map(|b| b.0).chain([m.len()]);
    for (&(from, m_sum, u_sum), to) in blocks.iter().zip(ends) {
        for level in from..to {
            m[level] = m_sum * u[level] / u_sum;
        }
    }
}

/// At most this share of the present values is unlike in the match class. `m`: the shares of the levels of present values.
pub(in crate::model) fn cap_unlike(m: &mut [f64], unlike: Range<usize>, most: f64) {
    let present: f64 = m.iter().sum();
    let of_unlike: f64 = m[unlike.clone()].iter().sum();
    if of_unlike > most * present {
        for (level, share) in m.iter_mut().enumerate() {
            *share *= match unlike.contains(&level) {
                true => most * present / of_unlike,
                false => (1.0 - most) * present / (present - of_unlike),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::mixture::Shares;
    use crate::model::values::{LEVELS, ORDERED, PRESENT};

    #[test]
    fn ratios_never_rise() {
        let u = [
            0.01, 0.01, 0.02, 0.06, 0.05, 0.05, 0.1, 0.1, 0.2, 0.3, 0.0, 0.1,
        ];
        let mut m = [
            0.2, 0.2, 0.1, 0.05, 0.1, 0.01, 0.04, 0.1, 0.02, 0.08, 0.0, 0.1,
        ];
        let before: f64 = m.iter().sum();
        make_monotone(&mut m[..ORDERED], &u[..ORDERED]);
        let ratio = |level: usize| m[level] / u[level];
        assert!((EQUAL..ORDERED).all(|level| ratio(level - 1) >= ratio(level) - 1e-9));
        assert!((m.iter().sum::<f64>() - before).abs() < 1e-12);
        assert_eq!(m[..3], [0.2, 0.2, 0.1]);
    }

    #[test]
    fn few_are_unlike() {
        let mut m: Shares = [0.05; LEVELS];
        m[ORDERED - 1] = 0.5;
        let before: f64 = m[..PRESENT].iter().sum();
        cap_unlike(&mut m[..PRESENT], ORDERED - 2..ORDERED, 0.25);
        let present: f64 = m[..PRESENT].iter().sum();
        assert!((present - before).abs() < 1e-12);
        assert!((m[ORDERED - 1] + m[ORDERED - 2] - 0.25 * present).abs() < 1e-12);
    }
}
