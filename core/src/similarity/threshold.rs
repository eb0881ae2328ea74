//! Thresholds on integers. A closed form in floating point loses rows: ⌈0.9·19/1.9⌉ comes out as
//! 10 where 9 common bits give exactly 0.9. So every bound is found by testing the quotient.

use super::Popcounts;

/// The least number of common bits with which signatures of `a` and `b` set bits reach Jaccard
/// similarity `threshold`; `None` when they cannot, as when the threshold is NaN.
pub fn least_common(a: u32, b: u32, threshold: f64) -> Option<u32> {
    let reaches = |common| Popcounts { a, b, common }.jaccard() >= threshold;
    let most = a.min(b);
    if !reaches(most) {
        return None;
    }
    let sum = f64::from(a) + f64::from(b);
    // `as` saturates, and the quotient grows with the common bits, so any start will do
    let mut common = ((threshold * sum / (1.0 + threshold)) as u32).min(most);
    while common > 0 && reaches(common - 1) {
        common -= 1;
    }
    while !reaches(common) {
        common += 1;
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_a_search_over_all_counts() {
        for (numerator, denominator) in [
            (0, 1),
            (1, 1),
            (9, 10),
            (4, 5),
            (1, 3),
            (2, 3),
            (1, 2),
            (7, 9),
        ] {
            let t = f64::from(numerator) / f64::from(denominator);
            for t in [t, t.next_up(), t.next_down(), -0.5, 1.5, f64::NAN] {
                for a in 0..60 {
                    for b in 0..60 {
                        let brute = (0..=a.min(b))
                            .find(|&common| Popcounts { a, b, common }.jaccard() >= t);
                        assert_eq!(least_common(a, b, t), brute, "{a} {b} {t}");
                    }
                }
            }
        }
    }
}
