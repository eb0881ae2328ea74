//! What the shares of the match class must obey.

use super::{Shares, MOST_UNLIKE};
use crate::model::values::{EQUAL, ORDERED, PRESENT, UNLIKE};

/// A lower similarity never counts for more: neighbours whose ratio to `u` rises are pooled (pool adjacent violators;
/// the most frequent equal values are the first level, as rarer ones rightly count for more).
pub(super) fn make_monotone(m: &mut Shares, u: &Shares) {
    const FIRST: usize = EQUAL - 1;
    // levels from..to with the sums of their shares
    let mut blocks: Vec<(usize, f64, f64)> = Vec::with_capacity(ORDERED - FIRST);
    for level in FIRST..ORDERED {
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
    let ends = blocks.iter().skip(1).map(|b| b.0).chain([ORDERED]);
    for (&(from, m_sum, u_sum), to) in blocks.iter().zip(ends) {
        for level in from..to {
            m[level] = m_sum * u[level] / u_sum;
        }
    }
}

/// At most a quarter of the present values are unlike in the match class.
pub(super) fn cap_unlike(m: &mut Shares) {
    let present: f64 = m[..PRESENT].iter().sum();
    let unlike: f64 = m[ORDERED - UNLIKE..ORDERED].iter().sum();
    if unlike > MOST_UNLIKE * present {
        for share in &mut m[ORDERED - UNLIKE..ORDERED] {
            *share *= MOST_UNLIKE * present / unlike;
        }
        let others = (0..PRESENT).filter(|level| !(ORDERED - UNLIKE..ORDERED).contains(level));
        for level in others {
            let share = &mut m[level];
            *share *= (1.0 - MOST_UNLIKE) * present / (present - unlike);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::values::LEVELS;

    #[test]
    fn ratios_never_rise() {
        let u = [
            0.01, 0.01, 0.02, 0.06, 0.05, 0.05, 0.1, 0.1, 0.2, 0.3, 0.0, 0.1,
        ];
        let mut m = [
            0.2, 0.2, 0.1, 0.05, 0.1, 0.01, 0.04, 0.1, 0.02, 0.08, 0.0, 0.1,
        ];
        let before: f64 = m.iter().sum();
        make_monotone(&mut m, &u);
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
        cap_unlike(&mut m);
        let present: f64 = m[..PRESENT].iter().sum();
        assert!((present - before).abs() < 1e-12);
        assert!((m[ORDERED - 1] + m[ORDERED - 2] - 0.25 * present).abs() < 1e-12);
    }
}
