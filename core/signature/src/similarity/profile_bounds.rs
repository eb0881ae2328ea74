//! How similar two records must be in single attributes if they are similar as weighted profiles.

use super::profile::{profile, Weights};
use base::range::unit;
use base::Result;

/// What rounding may do to sums of weights and to similarities, as a share of the weights. Sums of 1,600 numbers, as
/// many as a row has columns, are off by less than a fifth of it.
const SLACK: f64 = 1e-12;

/// Products of lesser weights are not rounded in proportion.
const LEAST: f64 = f64::MIN_POSITIVE / SLACK;

/// The bounds of so many attributes are found from all sets of them that can be present.
const MOST: usize = 10;

/// Which pairs of profiles are wanted: those whose weighted similarity reaches a threshold, of records that both have
/// attributes with a share of the weights.
#[derive(Clone, Debug)]
pub struct ProfileRule {
    weights: Vec<f64>,
    all: f64,
    threshold: f64,
    coverage: f64,
}

impl ProfileRule {
    /// Errors: weights that cannot be; a threshold or a coverage outside \[0,1\].
    pub fn new(weights: Vec<f64>, threshold: f64, coverage: f64) -> Result<ProfileRule> {
        let all = Weights::new(&weights)?.sum();
        unit("threshold", threshold)?;
        unit("coverage", coverage)?;
        Ok(ProfileRule {
            weights,
            all,
            threshold,
            coverage,
        })
    }

    /// One for each attribute.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The least similarity.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The similarity of a pair, if the pair is wanted. One similarity an attribute, `None` for what is missing on
    /// either side.
    ///
    /// Errors: those of the weights, which have been checked.
    pub fn similarity(&self, similarities: &[Option<f64>]) -> Result<Option<f64>> {
        let present = self.weights.iter().zip(similarities);
        let covered: f64 = present
            .filter_map(|(weight, similarity)| similarity.map(|_| weight))
            .sum();
        if covered < (self.coverage - SLACK) * self.all {
            return Ok(None);
        }
        let similarities = similarities.iter().copied().map(Ok);
        let similarity = profile(Weights::new(&self.weights)?, similarities)?;
        Ok(similarity.filter(|&similarity| similarity >= self.threshold))
    }

    /// For each of these attributes the similarity that one of them reaches in every pair that is wanted, where any
    /// others may be anything: of any such pair at least one attribute reaches its own bound. Bounds can be chosen in
    /// many ways; here those of the first attributes are the greatest. Each attribute is named once and has a positive
    /// weight. `None` if a pair that is wanted may have none of them.
    ///
    /// A pair has some of the attributes, Q, and some others. If all of Q are below their bounds bᵢ, and all others are
    /// equal, the similarity is below the threshold t exactly as long as Σ gᵢ·bᵢ over Q is at most t·G − (1−t)·H, where
    /// G is the weight of Q, and H that of the others. The greatest H is the worst, so that the sets Q remain, less
    /// those that do not suffice for the coverage.
    pub fn bounds(&self, searched: &[usize]) -> Option<Vec<f64>> {
        let weights: Vec<f64> = searched.iter().map(|&i| self.weights[i]).collect();
        let is_other = |i: &usize| !searched.contains(i);
        let others: f64 = (0..self.weights.len())
            .filter(is_other)
            .map(|i| self.weights[i])
            .sum();
        // Sets that weigh less than this do not suffice, even with all others.
        let least = self.coverage * self.all - others - 2.0 * SLACK * self.all;
        if weights.is_empty() || others > 0.0 && least <= 0.0 {
            return None;
        }
        if weights.iter().any(|&weight| weight < LEAST) {
            return Some(vec![0.0; weights.len()]);
        }
        let limit = |weight: f64| {
            self.threshold * weight - (1.0 - self.threshold) * others - SLACK * (weight + others)
        };
        if weights.len() > MOST {
            let lightest = weights.iter().copied().fold(f64::INFINITY, f64::min);
            let weight = lightest.max(least);
            return Some(vec![
                (limit(weight) / weight).clamp(0.0, 1.0);
                weights.len()
            ]);
        }
        let in_set = |set: usize| (0..weights.len()).filter(move |i| set >> i & 1 == 1);
        let sets: Vec<(usize, f64)> = (1..1 << weights.len())
            .map(|set| (set, in_set(set).map(|i| weights[i]).sum()))
            .filter(|&(_, weight)| weight >= least)
            .collect();
        let same = sets.iter().map(|&(_, weight)| limit(weight) / weight);
        let same = same.fold(1.0, f64::min).max(0.0);
        let mut bounds = vec![same; weights.len()];
        for i in 0..weights.len() {
            let room = sets.iter().filter(|(set, _)| set >> i & 1 == 1);
            let room = room.map(|&(set, weight)| {
                let rest: f64 = in_set(set & !(1 << i))
                    .map(|j| weights[j] * bounds[j])
                    .sum();
                (limit(weight) - rest) / weights[i]
            });
            bounds[i] = room.fold(1.0, f64::min).max(bounds[i]);
        }
        Some(bounds)
    }
}
