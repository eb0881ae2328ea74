//! How many rows a similarity search will find, from a sample.
//!
//! A sample of four thousand says nothing directly of one row in a million, but its nearest
//! signatures say how fast the number of rows falls as the threshold rises. On a million names of
//! persons the logarithm of that number falls a little faster than linearly.

mod sample;

pub use sample::{append, appended, pack, Packed};

use crate::RowBits;
use signature::similarity::Measure;

/// Hits in the sample that are enough to be counted.
pub const ENOUGH: usize = 8;

/// The ranks of the nearest sampled signatures that the line is fitted through; the very nearest
/// may be the row itself.
const RANKS: std::ops::RangeInclusive<usize> = 2..=100;

/// How much the logarithm bends, per squared similarity.
fn bend(measure: Measure) -> f64 {
    match measure {
        Measure::Jaccard => 10.0,
        // The bits of sets without a common token agree as fair coins fall, nearly normally: by z standard deviations
        // of √n/2 bits the logarithm falls by z²/2.
        Measure::Agreement { bits } => 2.0 * f64::from(bits),
    }
}

/// The least slope of the logarithm per similarity.
const FLATTEST: f64 = -1.0;

/// Rows expected of the most selective search: a row and some double.
const FEWEST: f64 = 1.3;

/// What a sample says of a query and a threshold.
pub struct Nearest {
    /// Signatures in the sample.
    sampled: usize,
    /// Those of them that reach the threshold.
    hits: usize,
    /// By which the logarithm bends.
    bend: f64,
    /// Where these are fewer than [`ENOUGH`], the greatest similarities in descending order, [`RANKS`] of them if there
    /// are so many.
    similarities: Vec<f64>,
}

impl Nearest {
    /// Compares a query with a random sample.
    pub fn of(sample: &Packed<'_>, query: &RowBits<'_>, threshold: f64) -> Nearest {
        let (hits, similarities) = sample.nearest(query, threshold, ENOUGH, *RANKS.end());
        Nearest {
            sampled: sample.len(),
            hits,
            bend: bend(query.shape().measure()),
            similarities,
        }
    }

    /// Share of `rows` rows with a similarity of at least the threshold.
    pub fn matching(&self, threshold: f64, rows: f64) -> f64 {
        self.share(threshold, rows, FEWEST)
    }

    /// How many of `rows` rows to expect for a query that need not be one of them; less than one where
    /// it is doubtful that there is any.
    pub fn expected(&self, threshold: f64, rows: f64) -> f64 {
        let share = self.share(threshold, rows, 0.0);
        (share * rows).max(self.hits as f64)
    }

    fn share(&self, threshold: f64, rows: f64, fewest: f64) -> f64 {
        let fewest = (fewest / rows.max(1.0)).min(1.0);
        if self.sampled == 0 {
            return fewest;
        }
        let sampled = self.sampled as f64;
        if self.hits >= ENOUGH || sampled >= rows {
            return (self.hits as f64 / sampled).max(fewest);
        }
        let share = self.extended(threshold);
        share.clamp(fewest, (ENOUGH as f64 / sampled).max(fewest))
    }

    /// The share at the threshold, by a line through the greatest similarities of a sample, which are in descending
    /// order.
    fn extended(&self, threshold: f64) -> f64 {
        let sampled = self.sampled as f64;
        let ranked = self.similarities.iter().zip(1..);
        let ranked = ranked.filter(|(_, rank)| RANKS.contains(rank));
        let points: Vec<(f64, f64)> = ranked
            .map(|(&s, rank)| (s, (rank as f64 / sampled).ln()))
            .collect();
        let count = points.len().max(1) as f64;
        let mean_s = points.iter().map(|p| p.0).sum::<f64>() / count;
        let mean_l = points.iter().map(|p| p.1).sum::<f64>() / count;
        let variance: f64 = points.iter().map(|p| (p.0 - mean_s).powi(2)).sum();
        let covariance: f64 = points.iter().map(|p| (p.0 - mean_s) * (p.1 - mean_l)).sum();
        let slope = if variance > 0.0 {
            (covariance / variance).min(FLATTEST)
        } else {
            FLATTEST
        };
        let beyond = (threshold - mean_s).max(0.0);
        (mean_l + slope * beyond - self.bend * beyond * beyond).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::{Nearest, ENOUGH, RANKS};

    /// As [`Nearest::of`] for these similarities.
    fn nearest(sample: &[f64], threshold: f64) -> Nearest {
        let mut similarities = sample.to_vec();
        similarities.sort_by(|a, b| b.total_cmp(a));
        let hits = similarities.iter().filter(|&&s| s >= threshold).count();
        let kept = if hits < ENOUGH { *RANKS.end() } else { 0 };
        similarities.truncate(kept);
        Nearest {
            sampled: sample.len(),
            hits,
            bend: super::bend(super::Measure::Jaccard),
            similarities,
        }
    }

    fn matching(sample: &mut [f64], threshold: f64, rows: f64) -> f64 {
        nearest(sample, threshold).matching(threshold, rows)
    }

    fn expected(sample: &mut [f64], threshold: f64, rows: f64) -> f64 {
        nearest(sample, threshold).expected(threshold, rows)
    }

    #[test]
    fn what_the_sample_shows_is_counted() {
        let mut sample: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        assert_eq!(matching(&mut sample, 0.5, 1e6), 0.5);
        assert_eq!(matching(&mut sample, 0.0, 1e6), 1.0);
        assert_eq!(matching(&mut sample, 0.999, 1000.0), 0.0013);
    }

    #[test]
    fn the_tail_falls_and_stays_in_bounds() {
        let mut sample: Vec<f64> = (0..2000)
            .map(|i| 0.3 * (f64::from(i) / 2000.0).powi(4))
            .collect();
        let mut last = 1.0;
        for t in 0..=10 {
            let share = matching(&mut sample, f64::from(t) / 10.0, 1e6);
            assert!(share <= last && share >= 1.3e-6, "{t} {share}");
            last = share;
        }
        assert_eq!(last, 1.3e-6);
    }

    #[test]
    fn nothing_alike_means_nothing_expected() {
        let far: Vec<f64> = (0..2000).map(|i| f64::from(i) / 20_000.0).collect();
        assert!(expected(&mut far.clone(), 0.9, 1e6) < 0.01);
        assert_eq!(expected(&mut far.clone(), 0.9, 2000.0), 0.0);
        let near: Vec<f64> = far.iter().copied().chain([1.0]).collect();
        assert!(expected(&mut near.clone(), 0.9, 1e6) >= 1.0);
        assert_eq!(expected(&mut [0.95; 10], 0.9, 1000.0), 1000.0);
        assert_eq!(expected(&mut [], 0.9, 1000.0), 0.0);
    }

    #[test]
    fn odd_samples_do_no_harm() {
        for sample in [vec![], vec![0.0], vec![0.0; 50], vec![1.0; 3], vec![0.5; 7]] {
            for t in [0.0, 0.5, 1.0, 2.0] {
                for rows in [0.0, 1.0, 1e9] {
                    let share = matching(&mut sample.clone(), t, rows);
                    assert!(
                        (0.0..=1.0).contains(&share),
                        "{sample:?} {t} {rows} {share}"
                    );
                }
            }
        }
    }
}
