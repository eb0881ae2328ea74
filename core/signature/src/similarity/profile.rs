//! Weighted similarity of records that are ordered lists of signatures.

use base::error::number;
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

    /// Attributes of a record.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The weights one after the other.
    pub fn as_slice(&self) -> &'a [f64] {
        self.0
    }

    /// The sum of all of them.
    pub fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    /// Never: the sum of the weights is positive.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
