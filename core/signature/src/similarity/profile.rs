//! Weighted similarity of records that are ordered lists of signatures.

use base::error::number;
use base::range::unit;
use base::{Error, Result};

/// Weights that have been checked: none negative, none infinite, the sum positive.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a>(&'a [f64]);

impl<'a> Weights<'a> {
    /// Errors: a weight that is negative, infinite or NaN; a sum that is not positive and finite.
    pub fn new(weights: &'a [f64]) -> Result<Weights<'a>> {
        let bad = |message| Err(Error::invalid(message));
        for (i, &w) in weights.iter().enumerate() {
            if !(w >= 0.0 && w.is_finite()) {
                return bad(format!(
                    "weight {} at position {} is out of range",
                    number(w),
                    i + 1
                ))
                .map_err(|e| e.detail("Weights are finite and not negative."));
            }
        }
        let sum: f64 = weights.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return bad(format!("weights sum to {}", number(sum)))
                .map_err(|e| e.detail("The weights must sum to a positive, finite number."));
        }
        Ok(Weights(weights))
    }

    /// The weights one after the other.
    pub fn as_slice(&self) -> &'a [f64] {
        self.0
    }

    /// The sum of all of them.
    pub fn sum(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// Σ gᵢ·simᵢ over the attributes that are present, divided by their Σ gᵢ; `None` when none with a
/// positive weight is. One similarity a weight, in order; `None` stands for an attribute that is
/// null on either side.
///
/// Errors: those of the similarities.
pub fn profile(
    weights: Weights<'_>,
    similarities: impl Iterator<Item = Result<Option<f64>>>,
) -> Result<Option<f64>> {
    let (mut sum, mut total) = (0.0, 0.0);
    for (weight, similarity) in weights.0.iter().zip(similarities) {
        if let Some(similarity) = similarity? {
            sum += weight * similarity;
            total += weight;
        }
    }
    Ok((total > 0.0).then(|| sum / total))
}

/// The share of the weights whose attributes are present: Σ gᵢ over these, divided by Σ gᵢ over all. One flag a weight,
/// in order.
pub fn profile_coverage(weights: Weights<'_>, present: impl Iterator<Item = bool>) -> f64 {
    let both = weights.0.iter().zip(present);
    let covered = both.filter_map(|(weight, is)| is.then_some(weight));
    // The sum of nothing is −0.
    (0.0 + covered.sum::<f64>()) / weights.sum()
}

// How similar two records must be in single attributes if they are similar as weighted profiles.

/// What rounding may do to sums of weights and to similarities, as a share of the weights. Sums of 1,600 numbers, as
/// many as a row has columns, are off by less than a fifth of it.
const SLACK: f64 = 1e-12;

/// Products of lesser weights are not rounded in proportion.
const LEAST_WEIGHT: f64 = f64::MIN_POSITIVE / SLACK;

/// Bounds are found from all sets of attributes that can be present, and plans from all sets that can be searched, where
/// attributes are no more than this.
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
        if weights.iter().any(|&weight| weight < LEAST_WEIGHT) {
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

// Which attributes of weighted profiles are searched, and for which similarity.

/// Nobody searches for less than this, unless the threshold is less: nearly all pairs would be found.
const LEAST_SEARCHED: f64 = 0.3;

/// The searches by which all wanted pairs of profiles are found.
#[derive(Clone, Debug)]
pub struct ProfilePlan {
    rule: ProfileRule,
    /// Attributes, in their order, and the similarity that each is searched for.
    searched: Vec<(usize, f64)>,
}

impl ProfilePlan {
    /// The plan of least cost. `cost` tells what searches of attributes, each for its similarity, are expected to cost,
    /// in any unit.
    pub fn new(rule: ProfileRule, cost: impl Fn(&[(usize, f64)]) -> f64) -> ProfilePlan {
        let weights = rule.weights();
        let mut attributes: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        // The dearest first: these get the greatest bounds, or are left out.
        let threshold = rule.threshold();
        let alone: Vec<f64> = (0..weights.len())
            .map(|i| cost(&[(i, threshold)]))
            .collect();
        attributes.sort_by(|&a, &b| alone[b].total_cmp(&alone[a]).then(a.cmp(&b)));
        let every = attributes.len();
        let choose = |left_out: usize| -> Vec<usize> {
            let kept = |(place, &attribute): (usize, &usize)| {
                (left_out >> place & 1 == 0).then_some(attribute)
            };
            attributes.iter().enumerate().filter_map(kept).collect()
        };
        let sets: Vec<Vec<usize>> = if every <= MOST {
            (0..(1 << every) - 1).map(choose).collect()
        } else {
            (0..every).map(|from| attributes[from..].to_vec()).collect()
        };
        let mut best: Option<(f64, Vec<(usize, f64)>)> = None;
        for (number, set) in sets.into_iter().enumerate() {
            let Some(bounds) = rule.bounds(&set) else {
                continue;
            };
            // The first set is that of all attributes, which always does.
            if number > 0
                && bounds
                    .iter()
                    .any(|&bound| bound < threshold.min(LEAST_SEARCHED))
            {
                continue;
            }
            let searches: Vec<(usize, f64)> = set.into_iter().zip(bounds).collect();
            let cost = cost(&searches);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, searches));
            }
        }
        let (_, mut searched) = best.expect("all attributes together can be searched");
        searched.sort_unstable_by_key(|&(attribute, _)| attribute);
        ProfilePlan { rule, searched }
    }

    /// What is searched, in the order of the attributes.
    pub fn searched(&self) -> &[(usize, f64)] {
        &self.searched
    }

    /// How many attributes a profile has.
    pub fn attributes(&self) -> usize {
        self.rule.weights().len()
    }

    /// The similarity of a pair that the search of an attribute has found, if it is wanted and no search before finds
    /// it, too: so each pair is taken once. `similarity` computes that of one attribute, `None` for what is missing on
    /// either side.
    ///
    /// Errors: those of `similarity`.
    pub fn take(
        &self,
        found_by: usize,
        mut similarity: impl FnMut(usize) -> Result<Option<f64>>,
    ) -> Result<Option<f64>> {
        let mut bounds = self.searched.iter().peekable();
        let mut similarities = Vec::with_capacity(self.attributes());
        for attribute in 0..self.attributes() {
            let this = similarity(attribute)?;
            let bound = bounds.next_if(|(searched, _)| *searched == attribute);
            let reaches = bound.is_some_and(|&(_, bound)| this.is_some_and(|this| this >= bound));
            if reaches && attribute < found_by {
                return Ok(None);
            }
            similarities.push(this);
        }
        self.rule.similarity(&similarities)
    }
}
