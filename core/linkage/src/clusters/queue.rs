//! Which pairs people are asked about, so that their answers tell most: some of each band of probability, since answers
//! of one band say nothing of another; and within a band evenly by probability, so that a pattern is asked about the
//! oftener the more pairs have it, and no pattern too often.

use super::reliability::BEGINNINGS;

/// The bands that people are asked about: from .1, below which next to nothing is right, to .999, above which all is.
pub const BANDS: usize = 5;

/// Pairs or answers of each of these bands.
pub type ByBand = [u64; BANDS];

/// The band of a probability; `None` if nobody need be asked.
pub fn band(probability: f64) -> Option<usize> {
    let begun = BEGINNINGS[1..].partition_point(|&begin| begin <= probability);
    begun.checked_sub(1).filter(|&band| band < BANDS)
}

/// From where to where a band is.
pub fn limits(band: usize) -> [f64; 2] {
    [BEGINNINGS[band + 1], BEGINNINGS[band + 2]]
}

/// How many of `wanted` questions each band gets, of the pairs that wait for one: always the band with the fewest, those
/// that have been answered included.
pub fn share_out(wanted: u64, waiting: ByBand, answered: ByBand) -> ByBand {
    let mut asked = [0; BANDS];
    for _ in 0..wanted {
        let open = (0..BANDS).filter(|&band| asked[band] < waiting[band]);
        match open.min_by_key(|&band| (answered[band] + asked[band], band)) {
            Some(band) => asked[band] += 1,
            None => break,
        }
    }
    asked
}

/// The places of so many questions among so many pairs in order, evenly.
pub fn places(asked: u64, waiting: u64) -> impl Iterator<Item = u64> {
    let place = move |i: u64| {
        let twice = u128::from(2 * i + 1) * u128::from(waiting) / u128::from(asked);
        (twice / 2) as u64
    };
    (0..asked.min(waiting)).map(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_that_are_asked_about() {
        let of = [
            0.0, 0.0999, 0.1, 0.5, 0.79, 0.8, 0.95, 0.9899, 0.99, 0.9989, 0.999, 1.0,
        ];
        let bands = of.map(band);
        let known = [
            None,
            None,
            Some(0),
            Some(1),
            Some(1),
            Some(2),
            Some(3),
            Some(3),
            Some(4),
        ];
        assert_eq!(bands[..9], known);
        assert_eq!(bands[9..], [Some(4), None, None]);
        assert_eq!(limits(0), [0.1, 0.5]);
        assert_eq!(limits(4), [0.99, 0.999]);
    }

    #[test]
    fn questions_are_shared_out() {
        assert_eq!(share_out(7, [9; 5], [0; 5]), [2, 2, 1, 1, 1]);
        assert_eq!(
            share_out(6, [9, 1, 0, 9, 9], [4, 0, 0, 0, 1]),
            [0, 1, 0, 3, 2]
        );
        assert_eq!(share_out(100, [3, 1, 0, 2, 0], [0; 5]), [3, 1, 0, 2, 0]);
        assert_eq!(share_out(0, [9; 5], [0; 5]), [0; 5]);
    }

    #[test]
    fn places_are_even() {
        let of = |asked, waiting| places(asked, waiting).collect::<Vec<u64>>();
        assert_eq!(of(1, 9), [4]);
        assert_eq!(of(3, 9), [1, 4, 7]);
        assert_eq!(of(4, 4), [0, 1, 2, 3]);
        assert!(of(0, 4).is_empty());
        let many = of(1000, u64::MAX / 2);
        assert!(many.windows(2).all(|two| two[0] < two[1]));
    }
}
